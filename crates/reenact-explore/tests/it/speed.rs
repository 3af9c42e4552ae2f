//! What a step of an exploration costs, beside what the run itself does. It prints a table and asserts nothing:
//!
//! ```text
//! cargo test --release -p reenact-multiverse --test explore -- --ignored --nocapture speed
//! ```

use std::time::{Duration, Instant};

use reenact_explore::{Explorer, Links, Moment, Run, Runs, Step};

use crate::language::{
    Op::{self, *},
    Program,
    Value::{Just, Register},
};

const ROUNDS: u32 = 50;

/// The least of some times.
fn least(mut work: impl FnMut()) -> Duration {
    let times = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    times.min().expect("there are some")
}

/// Takes these steps, as an exploration does, and nothing else.
fn take(program: &Program, schedule: &[Step]) {
    let mut run = (&program).start();
    let mut links = Links::default();
    for (moment, &step) in (0..).map(Moment).zip(schedule) {
        assert!(run.is_enabled(step.activity));
        run.step_at(step, moment, &mut links);
    }
}

fn measure(name: &str, threads: impl IntoIterator<Item = Vec<Op>>) {
    let program = Program::new(threads);
    let mut schedules = Vec::new();
    let report = Explorer::of(&&program).run(|execution| {
        schedules.push(execution.schedule().to_vec());
    });
    let progress = report.progress;
    let explored = least(|| _ = Explorer::of(&&program).run(|_| ()));
    let taken = least(|| {
        schedules
            .iter()
            .for_each(|schedule| take(&program, schedule))
    });
    let steps = (progress.steps + progress.repeated) as f64;
    println!(
        "| {name} | {} | {:.0} % | {:.0} ns | {:.0} ns | {:.0} ns |",
        progress.executions,
        100.0 * progress.steps as f64 / steps,
        explored.as_nanos() as f64 / steps,
        taken.as_nanos() as f64 / steps,
        (explored.as_nanos() as f64 - taken.as_nanos() as f64) / steps,
    );
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    println!("| program | executions | new steps | a step | of the run | of the exploration |");
    println!("|---|---|---|---|---|---|");
    measure("mutex 2 × 6", vec![[Lock(0), Unlock(0)].repeat(6); 2]);
    measure("mutex 2 × 8", vec![[Lock(0), Unlock(0)].repeat(8); 2]);
    measure(
        "load, store 2 × 4",
        vec![[Load(0), Store(0, Register(1))].repeat(4); 2],
    );
    measure("mutex 7", vec![vec![Lock(0), Unlock(0)]; 7]);
    let senders = (0..3).map(|i| vec![Send(0, Just(i)); 3]);
    measure("3 senders × 3", senders.chain([vec![Receive(0); 9]]));
}
