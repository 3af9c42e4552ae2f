//! Programs that take values of their own making from outside.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::SystemTime,
};

use reenact::{external, fs};
use serde::{Deserialize, Serialize};

use crate::setting;

pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "values" => values(),
        "maps" => maps(),
        "secret" => secret(),
        "type" => another_type(),
        "name" => println!("{}", external(&setting("NAME", "usual"), || 1)),
        "nested" => nested(&arguments[0]),
        _ => return false,
    }
    true
}

#[derive(Serialize, Deserialize, Debug)]
enum Shape {
    Point,
    Circle { radius: f64 },
    Path(Vec<(i32, i32)>),
}

/// Something that is another number in every process.
fn noise() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().subsec_nanos();
    LAST.fetch_add(1, Relaxed) ^ u64::from(now) ^ u64::from(std::process::id()) << 32
}

fn values() {
    println!("{}", external("number", noise));
    println!("{}", external("text", || format!("{:x}", noise())));
    println!("{:?}", external("nothing", || ()));
    println!(
        "{:?}",
        external("option", || noise().is_multiple_of(2).then(noise))
    );
    println!("{:?}", external("bytes", || noise().to_le_bytes().to_vec()));
    println!(
        "{:?}",
        external("map", || BTreeMap::from([(noise(), "a".to_owned())]))
    );
    println!(
        "{:?}",
        external("shapes", || vec![
            Shape::Point,
            Shape::Circle {
                radius: noise() as f64
            },
            Shape::Path(vec![(1, -1)]),
        ])
    );
    println!(
        "{:?}",
        external("result", || Err::<(), _>(format!("failed {}", noise())))
    );
}

fn secret() {
    println!("{}", external("harmless", noise));
    println!("{}", external("Token", || "a7f3-secret".to_owned()).len());
}

fn another_type() {
    match &*setting("TYPE", "u64") {
        "u64" => println!("{}", external("value", || 77u64)),
        "u32" => println!("{}", external("value", || 77u32)),
        _ => println!("{}", external("value", || "77".to_owned())),
    }
}

/// What is asked on the way is not recorded by itself.
fn nested(path: &str) {
    let length = external("length", || fs::read(path).map_or(0, |bytes| bytes.len()));
    println!("{length}");
}

/// Asks for values in whose making maps are made, and makes some itself, whose order it prints.
fn maps() {
    let ask = |many: usize| reenact::external("maps", || all_orders(many).len());
    let work = move |number: usize| {
        // The first map on this thread is not the program's.
        let mut text = format!("{}\n", ask(number));
        for round in 0..3 {
            text += &all_orders(2).concat();
            text += &format!("{}\n", ask(number + round));
        }
        text
    };
    let threads: Vec<_> = (1..4)
        .map(|number| reenact::thread::spawn(move || work(number)))
        .collect();
    print!("{}", work(5));
    for thread in threads {
        print!("{}", thread.join().unwrap());
    }
}

/// The orders of so many new maps.
fn all_orders(maps: usize) -> Vec<String> {
    let map = |_| {
        let map: std::collections::HashMap<_, _> = (0..20).map(|n| (n, ())).collect();
        format!("{:?}\n", map.keys().collect::<Vec<_>>())
    };
    (0..maps).map(map).collect()
}
