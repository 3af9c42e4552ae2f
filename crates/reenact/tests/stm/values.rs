//! Values of all kinds: in the variable or behind a pointer, and each dropped once.

use std::sync::{
    Arc,
    atomic::{AtomicIsize, Ordering::SeqCst},
};

use reenact::stm::{TVar, abort, atomically, atomically_or_err};

/// Counts how many of it there are.
struct Counted(Arc<AtomicIsize>, u64);

impl Counted {
    fn new(alive: &Arc<AtomicIsize>, value: u64) -> Counted {
        alive.fetch_add(1, SeqCst);
        Counted(Arc::clone(alive), value)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::new(&self.0, self.1)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Has everything dropped that is due: whoever passes by does it, so this passes by.
fn wait_for(alive: &AtomicIsize, expected: isize) {
    for _ in 0..1_000_000 {
        if alive.load(SeqCst) == expected {
            return;
        }
        let var = TVar::new(String::new());
        atomically(|tx| var.write(tx, String::new()));
        std::thread::yield_now();
    }
    panic!("{} are left, not {expected}", alive.load(SeqCst));
}

#[test]
fn every_value_is_dropped_once() {
    let alive = Arc::new(AtomicIsize::new(0));
    let var = TVar::new(Counted::new(&alive, 0));
    let handle = var.clone();
    for round in 1..200 {
        atomically(|tx| {
            // Overwritten within the transaction, given up with an alternative, and committed.
            var.write(tx, Counted::new(&alive, 0))?;
            tx.or_else(
                |tx| {
                    var.write(tx, Counted::new(&alive, 0))?;
                    reenact::stm::retry()
                },
                |tx| var.write(tx, Counted::new(&alive, round)),
            )?;
            let now = var.read(tx)?;
            assert_eq!(now.1, round);
            Ok(())
        });
        let failed: Result<(), ()> = atomically_or_err(|tx| {
            var.write(tx, Counted::new(&alive, 0))?;
            abort(())
        });
        assert!(failed.is_err());
    }
    wait_for(&alive, 1);
    assert_eq!(handle.read_atomic().1, 199);
    drop(var);
    wait_for(&alive, 1);
    drop(handle);
    wait_for(&alive, 0);
}

#[test]
fn a_variable_that_goes_while_it_is_read_stays_until_the_end() {
    let alive = Arc::new(AtomicIsize::new(0));
    // A list of which each link is a variable in the one before.
    type Link = Option<(TVar<u64>, Counted)>;
    let first: TVar<Link> = TVar::new(None);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..4000 {
                let link = (TVar::new(round), Counted::new(&alive, round));
                atomically(|tx| first.write(tx, Some(link.clone())));
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..4000 {
                    atomically(|tx| {
                        let Some((inner, counted)) = first.read(tx)? else {
                            return Ok(());
                        };
                        assert_eq!(inner.read(tx)?, counted.1);
                        drop((inner, counted));
                        first.read_with(tx, |_| ())
                    });
                }
            });
        }
    });
    drop(first);
    wait_for(&alive, 0);
}

#[test]
fn values_of_all_sizes_come_back() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(align(32))]
    struct Aligned([u8; 32]);
    macro_rules! come_back {
        ($($one:expr, $other:expr;)*) => {$(
            let var = TVar::new($one);
            let before = atomically(|tx| var.replace(tx, $other));
            assert_eq!(before, $one);
            assert_eq!(var.read_atomic(), $other);
            let read = atomically(|tx| { var.write(tx, $one)?; var.read(tx) });
            assert_eq!(read, $one);
            assert_eq!(var.read_atomic(), $one);
        )*};
    }
    come_back! {
        (), ();
        true, false;
        'a', 'ß';
        (1u8, 2u64), (3u8, 4u64);
        [7u64; 4], [8u64; 4];
        [7u64; 5], [8u64; 5];
        [1u8; 4000], [2u8; 4000];
        Aligned([1; 32]), Aligned([2; 32]);
        "static", "text";
        String::from("one"), String::from("other");
        Some(Box::new(5)), None;
        vec![1, 2, 3], Vec::new();
        Arc::new(1), Arc::new(2);
    }
}
