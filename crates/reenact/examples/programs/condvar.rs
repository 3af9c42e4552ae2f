//! Programs around `Condvar`.

use std::{collections::VecDeque, time::Duration};

use reenact::{
    sync::{Arc, Condvar, Mutex},
    thread,
};

use crate::support::{Dice, Seen, jitter, run_workers};

crate::programs! {
    "condvar-ping-pong" => ping_pong,
    "condvar-queue" => queue,
    "condvar-timeout" => timeout,
    "condvar-timeout-while" => timeout_while,
    "condvar-notify-all" => notify_all,
}

/// Two threads take turns; a third looks on.
fn ping_pong() {
    let ball = Arc::new((Mutex::new(0usize), Condvar::new()));
    let digests = run_workers(3, move |me| {
        let (turn, changed) = &*ball;
        let mut seen = Seen::default();
        for _ in 0..150 {
            let mut turn = turn.lock().unwrap();
            if me < 2 {
                while *turn % 2 != me {
                    turn = changed.wait(turn).unwrap();
                }
                *turn += 1;
                changed.notify_all();
            }
            seen.note(*turn);
            drop(turn);
            jitter();
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Two producers, two consumers, room for three: who gets what?
fn queue() {
    struct Queue {
        items: Mutex<VecDeque<usize>>,
        came: Condvar,
        went: Condvar,
    }
    let queue = Arc::new(Queue {
        items: Mutex::default(),
        came: Condvar::default(),
        went: Condvar::new(),
    });
    let digests = run_workers(4, move |me| {
        let mut seen = Seen::default();
        for round in 0..150 {
            let items = queue.items.lock().unwrap();
            if me < 2 {
                let mut items = queue
                    .went
                    .wait_while(items, |items| items.len() >= 3)
                    .unwrap();
                items.push_back(round * 2 + me);
                queue.came.notify_one();
            } else {
                let mut items = queue
                    .came
                    .wait_while(items, |items| items.is_empty())
                    .unwrap();
                seen.note(items.pop_front());
                queue.went.notify_one();
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Waits of a few microseconds, for a notification that may come in time.
fn timeout() {
    let counter = Arc::new((Mutex::new(0u32), Condvar::new()));
    let counts = run_workers(3, move |me| {
        let (value, changed) = &*counter;
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        let mut timeouts = 0;
        for _ in 0..120 {
            if me == 0 {
                *value.lock().unwrap() += 1;
                match dice.roll(3) {
                    0 => changed.notify_one(),
                    1 => changed.notify_all(),
                    _ => thread::yield_now(),
                }
            } else {
                let limit = Duration::from_micros(dice.roll(100) as u64);
                let (value, result) = changed.wait_timeout(value.lock().unwrap(), limit).unwrap();
                timeouts += u32::from(result.timed_out());
                seen.note((*value, result.timed_out()));
            }
        }
        (timeouts, seen.digest())
    });
    println!("{counts:?}");
}

/// As before, but waiting for something in particular.
#[allow(deprecated)]
fn timeout_while() {
    let counter = Arc::new((Mutex::new(0u64), Condvar::new()));
    let counts = run_workers(3, move |me| {
        let (value, changed) = &*counter;
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        let mut in_time = 0;
        for round in 0..100 {
            let value = value.lock().unwrap();
            if me == 0 {
                let mut value = value;
                *value += 1;
                changed.notify_all();
                drop(value);
                jitter();
            } else if dice.roll(8) == 0 {
                let (value, signalled) = changed.wait_timeout_ms(value, 0).unwrap();
                seen.note((*value, signalled));
            } else {
                let limit = Duration::from_micros(dice.roll(150) as u64);
                let (value, result) = changed
                    .wait_timeout_while(value, limit, |value| *value < round)
                    .unwrap();
                in_time += u32::from(!result.timed_out());
                seen.note((*value, result.timed_out()));
            }
        }
        (in_time, seen.digest())
    });
    println!("{counts:?}");
}

/// One lets many go: in which order?
fn notify_all() {
    let gate = Arc::new((Mutex::new((0usize, Vec::new())), Condvar::new()));
    let theirs = Arc::clone(&gate);
    let waiting = thread::spawn(move || {
        run_workers(5, move |me| {
            let (state, opened) = &*theirs;
            for round in 1..40 {
                let state = state.lock().unwrap();
                let mut state = opened
                    .wait_while(state, |(round_now, _)| *round_now < round)
                    .unwrap();
                state.1.push(me);
            }
        })
    });
    let (state, opened) = &*gate;
    for round in 1..40 {
        state.lock().unwrap().0 = round;
        opened.notify_all();
        jitter();
    }
    waiting.join().unwrap();
    let mut seen = Seen::default();
    seen.note(&state.lock().unwrap().1);
    println!("{}", seen.digest());
}
