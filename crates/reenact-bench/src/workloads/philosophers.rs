//! Dining philosophers: the papers' microbenchmark of locks.
//!
//! Each philosopher takes the lower-numbered of the two forks beside them first, so that nobody
//! starves in a circle. Savina's size is 20 philosophers with 5000 meals each, which is over in
//! milliseconds here; the meals are multiplied. Nothing happens while eating except that both
//! forks count their uses, so this is the program in which a lock operation weighs most. On one
//! core it runs almost without contention; on several, neighbours collide and a philosopher who is
//! preempted at table holds up two others.

use super::{
    Measured, Setting,
    sync::{Arc, Mutex},
    thread,
};

const PHILOSOPHERS: usize = 20;
const MEALS: u64 = 5_000;
const ENLARGED: u64 = 200;

/// Everybody eats the same number of meals.
pub(super) fn run(setting: &Setting) -> Measured {
    let philosophers = setting.threads_or(PHILOSOPHERS).max(2);
    let meals = setting.times(MEALS * ENLARGED);
    let forks: Arc<[Mutex<u64>]> = (0..philosophers).map(|_| Mutex::new(0)).collect();
    let measured = Measured::around(|| {
        let table: Vec<_> = (0..philosophers)
            .map(|seat| {
                let forks = Arc::clone(&forks);
                thread::spawn(move || dine(&forks, seat, meals))
            })
            .collect();
        for philosopher in table {
            philosopher.join().unwrap();
        }
        2 * meals * philosophers as u64
    });
    for fork in forks.iter() {
        assert_eq!(*fork.lock().unwrap(), 2 * meals);
    }
    measured
}

fn dine(forks: &[Mutex<u64>], seat: usize, meals: u64) {
    let neighbour = (seat + 1) % forks.len();
    let first = &forks[seat.min(neighbour)];
    let second = &forks[seat.max(neighbour)];
    for _ in 0..meals {
        let mut first = first.lock().unwrap();
        let mut second = second.lock().unwrap();
        *first += 1;
        *second += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Setting, run};

    #[test]
    fn everybody_eats_all_their_meals() {
        assert_eq!(run(&Setting::tiny()).ops, 2 * 20 * 2_000);
    }

    #[test]
    fn two_philosophers_share_both_forks() {
        let setting = Setting {
            threads: Some(2),
            ..Setting::tiny()
        };
        assert_eq!(run(&setting).ops, 2 * 2 * 2_000);
    }
}
