//! Generic actors and generic messages.

use std::{collections::HashMap, fmt::Display, hash::Hash};

use reenact_macros::actor;

use crate::fake::actor::{Context, FarRef, Promise};

pub struct Stack<T>(Vec<T>);

#[actor(crate = crate::fake)]
impl<T: Send + 'static> Stack<T> {
    pub fn push(&mut self, item: T) {
        self.0.push(item);
    }

    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    pub fn split(&mut self, at: usize) -> Self {
        Stack(self.0.split_off(at))
    }

    pub fn pop_into(&mut self, to: FarRef<Self>) {
        if let Some(item) = self.pop() {
            to.push(item);
        }
    }
}

// A second block for the same actor, and only for some.
#[actor(crate = crate::fake, trait = TextSends)]
impl Stack<String> {
    pub fn concat(&self) -> String {
        self.0.concat()
    }
}

#[test]
fn a_generic_actor_has_generic_messages() {
    let stack = FarRef::new(Stack(Vec::new()));
    let numbers = FarRef::new(Stack(Vec::new()));
    stack.push("a".to_owned());
    stack.push("b".to_owned());
    numbers.push(1);
    assert_eq!(stack.concat().wait(), "ab");
    assert_eq!(stack.split(1).wait().0, ["b"]);
    stack.pop_into(
        stack
            .pop()
            .wait()
            .map(|text| FarRef::new(Stack(vec![text])))
            .unwrap(),
    );
    assert_eq!(stack.pop().wait(), None);
    assert_eq!(numbers.pop().wait(), Some(1));
}

pub struct Ring<K, const N: usize> {
    slots: [Option<K>; N],
    seen: HashMap<K, usize>,
}

#[actor(crate = crate::fake)]
impl<K, const N: usize> Ring<K, N>
where
    K: Hash + Eq + Clone + Send + 'static,
    Self: Send,
{
    const SIZE: usize = N;

    pub fn put(&mut self, at: usize, key: K) -> usize {
        self.slots[at % Self::SIZE] = Some(key.clone());
        let count = self.seen.entry(key).or_default();
        *count += 1;
        *count
    }

    pub fn slots(&self) -> [Option<K>; N] {
        self.slots.clone()
    }
}

#[test]
fn const_parameters_and_where_clauses_are_the_traits_too() {
    let ring = FarRef::new(Ring::<&'static str, 2> {
        slots: [None, None],
        seen: HashMap::new(),
    });
    assert_eq!(ring.put(1, "x").wait(), 1);
    assert_eq!(ring.put(4, "x").wait(), 2);
    assert_eq!(ring.slots().wait(), [Some("x"), Some("x")]);
}

pub struct Log(Vec<String>);

#[actor(crate = crate::fake)]
impl Log {
    pub fn add<D>(&mut self, what: D)
    where
        D: Display + Send + 'static,
    {
        self.0.push(what.to_string());
    }

    /// Nothing of what it carries says what `R` is.
    pub fn last_as<R: From<String> + Send + 'static>(&mut self) -> Option<R> {
        self.0.pop().map(R::from)
    }

    pub fn chunk<const N: usize>(&self) -> [usize; N] {
        [self.0.len(); N]
    }

    pub fn each(
        &mut self,
        _ctx: &mut Context<Self>,
        mut f: impl FnMut(&str) + Send + 'static,
    ) -> Promise<()> {
        self.0.iter().for_each(|line| f(line));
        FarRef::new(Log(Vec::new())).done()
    }

    pub fn map(
        &self,
        f: Box<dyn for<'a> Fn(&'a str) -> &'a str + Send>,
        or: fn(&str) -> &str,
    ) -> Vec<String> {
        self.0.iter().map(|line| or(f(line)).to_owned()).collect()
    }

    #[allow(clippy::unused_unit)]
    pub fn done(&self) -> () {}
}

#[test]
fn messages_can_be_generic() {
    let log = FarRef::new(Log(Vec::new()));
    log.add(7);
    log.add("seven ");
    log.each(|line| assert!(!line.is_empty())).wait();
    assert_eq!(log.chunk::<3>().wait(), [2, 2, 2]);
    assert_eq!(
        log.map(Box::new(|line| line), str::trim).wait(),
        ["7", "seven"]
    );
    assert_eq!(log.last_as::<Box<str>>().wait().as_deref(), Some("seven "));
}
