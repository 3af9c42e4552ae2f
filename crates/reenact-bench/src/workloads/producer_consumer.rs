//! Producers and consumers around a bounded buffer: a mutex with two conditions.
//!
//! Savina's `ProducerConsumerBoundedBuffer 40:5:5:10`, with threads for actors: a buffer of 40
//! items, 5 producers, 5 consumers, and a cost of 10, which in Savina is 10 × 100 logarithms of
//! random numbers for making an item and as many for using it. It stresses condition waits, and
//! the hand-over of one lock between ten threads; between two operations there is real work.

use std::collections::VecDeque;

use super::{
    Measured, Setting,
    sync::{Arc, Condvar, Mutex},
    thread,
};
use crate::random::Random;

const BUFFER: usize = 40;
const PRODUCERS: usize = 5;
const COST: u64 = 10;
const ITEMS: u64 = 25_000;

/// Items go through the buffer until all are used.
///
/// A given number of threads is divided evenly between producers and consumers.
pub(super) fn run(setting: &Setting) -> Measured {
    let producers = (setting.threads_or(2 * PRODUCERS) / 2).max(1) as u64;
    let each = setting.times(ITEMS / producers);
    let buffer = Arc::new(Buffer::new(each * producers));
    let mut used = Tally::default();
    let mut made = Tally::default();
    let measured = Measured::around(|| {
        let consumers: Vec<_> = (0..producers)
            .map(|_| {
                let buffer = Arc::clone(&buffer);
                thread::spawn(move || consume(&buffer))
            })
            .collect();
        let producers: Vec<_> = (0..producers)
            .map(|number| {
                let buffer = Arc::clone(&buffer);
                thread::spawn(move || produce(&buffer, number * each..(number + 1) * each))
            })
            .collect();
        for producer in producers {
            made.add(&producer.join().unwrap());
        }
        for consumer in consumers {
            used.add(&consumer.join().unwrap());
        }
        made.ops + used.ops
    });
    assert_eq!(made.items, each * producers);
    assert_eq!(used.items, made.items);
    assert_eq!(used.sum, made.sum, "items changed on their way");
    measured
}

/// What one thread did. The sum is over the bits of the items, so that it does not depend on their
/// order as a sum of floats would.
#[derive(Default)]
struct Tally {
    ops: u64,
    items: u64,
    sum: u64,
}

impl Tally {
    fn count(&mut self, item: f64) {
        self.items += 1;
        self.sum = self.sum.wrapping_add(item.to_bits());
    }

    fn add(&mut self, other: &Self) {
        self.ops += other.ops;
        self.items += other.items;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

struct Buffer {
    state: Mutex<State>,
    not_full: Condvar,
    not_empty: Condvar,
}

struct State {
    items: VecDeque<f64>,
    /// How many items are still to be taken out; at zero the consumers go home.
    to_take: u64,
}

impl Buffer {
    fn new(to_take: u64) -> Self {
        Self {
            state: Mutex::new(State {
                items: VecDeque::with_capacity(BUFFER),
                to_take,
            }),
            not_full: Condvar::new(),
            not_empty: Condvar::new(),
        }
    }

    fn put(&self, item: f64, ops: &mut u64) {
        let mut state = self.state.lock().unwrap();
        *ops += 1;
        while state.items.len() == BUFFER {
            state = self.not_full.wait(state).unwrap();
            *ops += 1;
        }
        state.items.push_back(item);
        drop(state);
        self.not_empty.notify_one();
    }

    fn take(&self, ops: &mut u64) -> Option<f64> {
        let mut state = self.state.lock().unwrap();
        *ops += 1;
        while state.items.is_empty() {
            if state.to_take == 0 {
                return None;
            }
            state = self.not_empty.wait(state).unwrap();
            *ops += 1;
        }
        let item = state.items.pop_front();
        state.to_take -= 1;
        let last = state.to_take == 0;
        drop(state);
        if last {
            self.not_empty.notify_all();
        } else {
            self.not_full.notify_one();
        }
        item
    }
}

fn produce(buffer: &Buffer, numbers: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for number in numbers {
        let item = work(number as f64);
        tally.count(item);
        buffer.put(item, &mut tally.ops);
    }
    tally
}

fn consume(buffer: &Buffer) -> Tally {
    let mut tally = Tally::default();
    while let Some(item) = buffer.take(&mut tally.ops) {
        tally.count(item);
        std::hint::black_box(work(item));
    }
    tally
}

/// The cost of an item, on either side.
fn work(term: f64) -> f64 {
    let mut random = Random::new(COST);
    (0..COST * 100).fold(term, |sum, _| sum + (random.unit() + 0.01).ln())
}

#[cfg(test)]
mod tests {
    use super::{Setting, run};

    #[test]
    fn every_item_is_used_once() {
        // 5 × 10 items, each put and taken under the lock, and five more looks that find the end.
        assert!(run(&Setting::tiny()).ops >= 2 * 50 + 5);
    }
}
