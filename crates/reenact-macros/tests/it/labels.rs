//! Descriptions of messages and of actors, for whoever inspects them: whatever is `Debug`.

use crate::fake::actor::{FarRef, inspect};

#[derive(Debug)]
struct Shelf<T> {
    books: Vec<T>,
}

/// Not `Debug`.
struct Key;

#[reenact_macros::actor(crate = crate::fake)]
impl<T: Send + 'static> Shelf<T> {
    pub(crate) fn put(&mut self, book: T) {
        self.books.push(book);
    }

    pub(crate) fn r#move(&mut self, (from, to): (usize, usize), _key: Key) {
        self.books.swap(from, to);
    }

    pub(crate) fn count(&self) -> usize {
        self.books.len()
    }
}

struct Opaque;

#[reenact_macros::actor(crate = crate::fake)]
impl Opaque {
    pub(crate) fn print(&self, text: impl Into<String> + Send + 'static, times: u8) {
        let _ = (text.into(), times);
    }
}

#[derive(Debug)]
struct Counter(u8);

#[reenact_macros::actor(crate = crate::fake)]
impl Counter {
    pub(crate) fn add(&mut self, number: u8, text: &'static str) {
        self.0 += number + text.len() as u8;
    }
}

#[test]
fn a_message_is_its_method_and_what_is_debug_of_its_arguments() {
    let shelf = FarRef::new(Shelf { books: Vec::new() });
    // Of a type parameter nothing is known.
    shelf.put("Oz");
    assert_eq!(inspect::last(), ("put(_)".to_owned(), None));
    shelf.put("CLU");
    shelf.r#move((0, 1), Key);
    assert_eq!(inspect::last().0, "move((0, 1), _)");
    shelf.count();
    assert_eq!(inspect::last().0, "count()");
    let opaque = FarRef::new(Opaque);
    opaque.print("text", 3);
    assert_eq!(inspect::last(), ("print(_, 3)".to_owned(), None));
}

#[test]
fn an_actor_that_is_debug_is_shown() {
    let counter = FarRef::new(Counter(1));
    counter.add(2, "ab");
    let label = "add(2, \"ab\")".to_owned();
    assert_eq!(inspect::last(), (label, Some("Counter(1)".to_owned())));
    counter.add(0, "");
    assert_eq!(inspect::last().1.as_deref(), Some("Counter(5)"));
}
