//! Calls of functions with values of many types. Prints each call as `name(argument, …) -> result`, with `{:?}`.

use std::{hint::black_box, panic::catch_unwind, rc::Rc};

use reenact::{
    sync::{Arc, Mutex},
    thread,
};

#[derive(Clone, Debug)]
#[expect(dead_code, reason = "only shown")]
enum Shape {
    Circle(f64),
    Rectangle { width: u32, height: u32 },
    Nothing,
}

#[derive(Clone, Copy, Debug)]
enum Colour {
    Red,
    Green = 5,
}

#[derive(Clone, Debug)]
struct User {
    name: String,
    tags: Vec<String>,
    age: Option<u8>,
}

#[inline(never)]
fn integers(a: i8, b: u16, c: i64, d: u128) -> i64 {
    black_box((a, b, d));
    c - 1
}

#[inline(never)]
fn others(a: bool, b: char, c: f32, d: f64) -> f64 {
    black_box((a, b));
    f64::from(c) * d
}

#[inline(never)]
fn texts(a: &str, b: String) -> String {
    format!("{a}/{b}")
}

#[inline(never)]
fn slices(a: &[u32], b: Vec<i16>, c: [u8; 4]) -> Option<u32> {
    black_box((b, c));
    a.first().copied()
}

#[inline(never)]
fn shapes(a: Shape, b: Colour, c: Option<&Shape>) -> Shape {
    black_box((b, c));
    a
}

#[inline(never)]
fn users(a: &User, b: Box<User>, c: Rc<User>) -> Result<usize, String> {
    black_box((b, c));
    match a.age {
        Some(_) => Ok(a.tags.len()),
        None => Err(a.name.clone()),
    }
}

#[inline(never)]
fn pair(a: u32) -> (u32, u32) {
    (a, black_box(a + 1))
}

#[inline(never)]
fn perhaps(a: u32) -> Option<u32> {
    black_box((a > 0).then_some(a))
}

#[inline(never)]
fn large(a: u64) -> [u64; 5] {
    black_box([a; 5])
}

#[inline(never)]
fn fails(a: u32) -> u32 {
    assert!(a < 2, "too much");
    a
}

#[inline(never)]
fn descend(a: u32) -> u32 {
    match a {
        0 => 0,
        a => 1 + black_box(descend(a - 1)),
    }
}

/// Prints a call, and makes it.
macro_rules! call {
    ($function:ident($($argument:expr),*)) => {{
        let arguments = [$(format!("{:?}", $argument)),*].join(", ");
        let result = $function($($argument),*);
        println!("{}({arguments}) -> {result:?}", stringify!($function));
    }};
}

fn main() {
    let total = Arc::new(Mutex::new(0));
    let threads = [0, 1].map(|number| {
        let total = Arc::clone(&total);
        thread::spawn(move || {
            for round in 0..3 {
                let mut total = total.lock().unwrap();
                *total += pair(number * 10 + round).1;
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    println!("total {}", total.lock().unwrap());
    call!(integers(-3, 7, 1_i64 << 40, 1_u128 << 100));
    call!(others(true, 'ß', 1.5, 2.25));
    call!(texts("héllo", "wor\"ld".to_owned()));
    call!(slices(&[1, 2, 3], vec![-1, -2], [9, 8, 7, 6]));
    call!(slices(&[0; 0], Vec::<i16>::new(), [0; 4]));
    call!(shapes(Shape::Circle(1.0), Colour::Green, None::<&Shape>));
    let rectangle = Shape::Rectangle {
        width: 1,
        height: 2,
    };
    call!(shapes(
        rectangle.clone(),
        Colour::Red,
        Some(&Shape::Nothing)
    ));
    call!(shapes(Shape::Nothing, Colour::Red, Some(&rectangle)));
    let user = User {
        name: "ann".to_owned(),
        tags: vec!["a".to_owned(), "bc".to_owned()],
        age: Some(3),
    };
    let nobody = User {
        age: None,
        ..user.clone()
    };
    call!(users(&user, Box::new(user.clone()), Rc::new(user.clone())));
    call!(users(
        &nobody,
        Box::new(user.clone()),
        Rc::new(user.clone())
    ));
    call!(pair(4));
    call!(perhaps(5));
    call!(perhaps(0));
    call!(large(6));
    call!(descend(3));
    let _ = catch_unwind(|| fails(2));
    call!(fails(1));
}
