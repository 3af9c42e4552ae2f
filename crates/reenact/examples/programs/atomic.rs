//! Programs around atomics.

use reenact::{
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr,
            AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
            fence,
        },
    },
    thread,
};

use crate::support::{Dice, Seen, jitter, run_workers};

crate::programs! {
    "atomic-integers" => integers,
    "atomic-bool" => bool,
    "atomic-pointer" => pointer,
    "atomic-stack" => stack,
    "atomic-first-load" => first_load,
    "atomic-flags" => flags,
    "atomic-spinlock" => spinlock,
    "atomic-store-buffer" => store_buffer,
    "atomic-many" => many,
}

macro_rules! every_operation {
    ($($atomic:ident $integer:ident),*) => {$({
        let number = Arc::new($atomic::new(1));
        let theirs = Arc::clone(&number);
        let digests = run_workers(3, move |me| {
            let (mut dice, mut seen) = (Dice::new(me), Seen::default());
            for _ in 0..60 {
                let value = dice.roll(100) as $integer;
                seen.note(match dice.roll(15) {
                    0 => theirs.load(SeqCst),
                    1 => { theirs.store(value, Release); value }
                    2 => theirs.swap(value, AcqRel),
                    3 => theirs.fetch_add(value, Relaxed),
                    4 => theirs.fetch_sub(value, SeqCst),
                    5 => theirs.fetch_and(value, Acquire),
                    6 => theirs.fetch_nand(value, Release),
                    7 => theirs.fetch_or(value, AcqRel),
                    8 => theirs.fetch_xor(value, Relaxed),
                    9 => theirs.fetch_max(value, SeqCst),
                    10 => theirs.fetch_min(value, SeqCst),
                    11 => {
                        let now = theirs.load(Acquire);
                        jitter();
                        theirs.compare_exchange(now, value, AcqRel, Acquire).unwrap_or_else(|was| was / 2)
                    }
                    12 => {
                        let now = theirs.load(Relaxed);
                        theirs.compare_exchange_weak(now, value, SeqCst, Relaxed).unwrap_or_else(|was| was / 3)
                    }
                    13 => theirs
                        .fetch_update(AcqRel, Acquire, |now| {
                            jitter();
                            (now % 3 != 0).then(|| now.wrapping_mul(2))
                        })
                        .unwrap_or_else(|was| was / 5),
                    _ => theirs.load(Relaxed),
                });
            }
            seen.digest()
        });
        let mut number = Arc::into_inner(number).expect("the threads are gone");
        *number.get_mut() = number.get_mut().wrapping_add(1);
        println!("{} {digests:?} {}", stringify!($atomic), number.into_inner());
    })*};
}

fn integers() {
    every_operation!(AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize);
    every_operation!(AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize);
}

fn bool() {
    let flag = Arc::new(AtomicBool::new(false));
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for _ in 0..300 {
            let value = dice.roll(2) == 0;
            seen.note(match dice.roll(9) {
                0 => flag.load(Acquire),
                1 => flag.swap(value, SeqCst),
                2 => flag.fetch_and(value, SeqCst),
                3 => flag.fetch_or(value, SeqCst),
                4 => flag.fetch_nand(value, SeqCst),
                5 => flag.fetch_xor(value, SeqCst),
                6 => flag.fetch_not(SeqCst),
                7 => flag.compare_exchange(value, !value, SeqCst, SeqCst).is_ok(),
                _ => flag
                    .fetch_update(SeqCst, SeqCst, |now| now.then_some(value))
                    .is_ok(),
            });
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Addresses are not the same in a replay, but who put them there is.
fn pointer() {
    static THINGS: [usize; 4] = [10, 11, 12, 13];
    let place = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        let mine = Box::leak(Box::new(me));
        for _ in 0..200 {
            let ours: *mut usize = match dice.roll(3) {
                0 => mine,
                1 => (&raw const THINGS[dice.roll(4)]).cast_mut(),
                _ => std::ptr::null_mut(),
            };
            let was = match dice.roll(5) {
                0 => place.load(Acquire),
                1 => place.swap(ours, AcqRel),
                2 => {
                    place.store(ours, Release);
                    place.load(Acquire)
                }
                3 => place
                    .fetch_update(AcqRel, Acquire, |was| was.is_null().then_some(ours))
                    .unwrap_or(ours),
                _ => match place.compare_exchange(mine, ours, AcqRel, Acquire) {
                    Ok(was) | Err(was) => was,
                },
            };
            // SAFETY: What is put there is null, a static, or leaked.
            seen.note(unsafe { was.as_ref() });
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// A stack without a lock: every push and pop is a compare-and-exchange that others may spoil.
fn stack() {
    struct Node {
        value: usize,
        next: *mut Node,
    }
    let head = Arc::new(AtomicPtr::<Node>::default());
    let theirs = Arc::clone(&head);
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        let mut spoilt = 0;
        for round in 0..150 {
            if dice.roll(3) > 0 {
                let node = Box::leak(Box::new(Node {
                    value: me * 1000 + round,
                    next: std::ptr::null_mut(),
                }));
                loop {
                    node.next = theirs.load(Acquire);
                    jitter();
                    match theirs.compare_exchange_weak(node.next, node, AcqRel, Relaxed) {
                        Ok(_) => break,
                        Err(_) => spoilt += 1,
                    }
                }
            } else {
                // SAFETY: Nodes are never freed, and not changed once they are on the stack.
                let popped = theirs
                    .fetch_update(AcqRel, Acquire, |node| unsafe { Some(node.as_ref()?.next) });
                // SAFETY: As above.
                seen.note(popped.map(|node| unsafe { (*node).value }).ok());
            }
        }
        (spoilt, seen.digest())
    });
    let mut seen = Seen::default();
    let mut node = head.load(Acquire);
    // SAFETY: As above.
    while let Some(Node { value, next }) = unsafe { node.as_ref() } {
        seen.note(value);
        node = *next;
    }
    println!("{digests:?} {}", seen.digest());
}

/// Each of many atomics is first used by a load, by a store, or by both at once.
fn first_load() {
    let numbers: Arc<Vec<AtomicU32>> = Arc::new((0..2000).map(|_| AtomicU32::new(5)).collect());
    let digests = run_workers(2, move |me| {
        let mut seen = Seen::default();
        for number in numbers.iter() {
            if me == 0 {
                seen.note(number.load(Acquire));
            } else {
                number.store(7, Release);
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Threads that spin until others have raised their flag, and count how long that took them.
fn flags() {
    let flags: Arc<Vec<AtomicBool>> = Arc::new((0..60).map(|_| AtomicBool::new(false)).collect());
    let spins = run_workers(2, move |me| {
        let mut spins = 0;
        for (number, flag) in flags.iter().enumerate() {
            if number % 2 == me {
                jitter();
                flag.store(true, Release);
            } else {
                while !flag.load(Acquire) {
                    spins += 1;
                    std::hint::spin_loop();
                    if spins % 64 == 0 {
                        thread::yield_now();
                    }
                }
            }
        }
        spins
    });
    println!("{spins:?}");
}

/// A lock made of an atomic, and data under it that only this lock protects.
fn spinlock() {
    let held = Arc::new(AtomicBool::new(false));
    let list = Arc::new(AtomicU64::new(0));
    let theirs = Arc::clone(&list);
    let spins = run_workers(3, move |me| {
        let mut spins = 0;
        for _ in 0..60 {
            while held.swap(true, Acquire) {
                while held.load(Relaxed) {
                    spins += 1;
                    thread::yield_now();
                }
            }
            let value = theirs.load(Relaxed);
            theirs.store(value.wrapping_mul(31).wrapping_add(me as u64), Relaxed);
            held.store(false, Release);
        }
        spins
    });
    println!("{spins:?} {}", list.load(SeqCst));
}

/// Each stores to its own and loads the other's: with weak orders both may miss the other's store.
fn store_buffer() {
    let pairs: Arc<Vec<(AtomicU32, AtomicU32)>> =
        Arc::new((0..400).map(|_| Default::default()).collect());
    let theirs = Arc::clone(&pairs);
    let missed = run_workers(2, move |me| {
        // So that the loads below are of something this thread has seen.
        for pair in theirs.iter() {
            pair.0.load(Relaxed);
            pair.1.load(Relaxed);
        }
        let mut missed = Vec::new();
        for (number, pair) in theirs.iter().enumerate() {
            let (mine, other) = if me == 0 {
                (&pair.0, &pair.1)
            } else {
                (&pair.1, &pair.0)
            };
            mine.store(1, Relaxed);
            if number % 8 == 0 {
                fence(SeqCst);
            }
            if other.load(Relaxed) == 0 {
                missed.push(number);
            }
        }
        missed
    });
    let both = missed[0]
        .iter()
        .filter(|number| missed[1].contains(number))
        .count();
    let mut seen = Seen::default();
    seen.note(&missed);
    println!("{both} {}", seen.digest());
}

/// More atomics than an activity keeps in view at a time, mostly loaded.
fn many() {
    let numbers: Arc<Vec<AtomicUsize>> = Arc::new((0..300).map(AtomicUsize::new).collect());
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for _ in 0..1500 {
            let number = &numbers[dice.roll(300)];
            match dice.roll(5) {
                0 => number.store(me, Relaxed),
                1 => seen.note(number.fetch_add(1, Relaxed)),
                _ => seen.note(number.load(Relaxed)),
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}
