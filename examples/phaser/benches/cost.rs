//! What a party pays that is alone, so that nobody waits: with std's barrier, and with the phaser, off and recorded.
//!
//! ```text
//! $ cargo bench --package phaser
//! ```
//!
//! Both allocate nothing but what a phase needs. The three are measured in turns, in one run each; what is printed are
//! medians.

use std::{process::Command, sync::Barrier, time::Instant};

use phaser::Phaser;

const PHASES: u32 = 1_000_000;
const ROUNDS: usize = 9;

fn nanoseconds_per_phase(mut phase: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..PHASES {
        phase();
    }
    start.elapsed().as_nanos() as f64 / f64::from(PHASES)
}

fn measure(what: &str) -> f64 {
    match what {
        "barrier" => {
            let barrier = Barrier::new(1);
            nanoseconds_per_phase(|| {
                barrier.wait();
            })
        }
        _ => {
            let mut party = Phaser::new().register();
            nanoseconds_per_phase(|| {
                party.arrive_and_wait();
            })
        }
    }
}

/// In a process of its own: a process is recorded from its beginning to its end.
fn measure_elsewhere(what: &str, recorded: bool) -> f64 {
    let this = std::env::current_exe().expect("this program's file");
    let directory = tempfile::tempdir().expect("a directory for the trace");
    let mut command = Command::new(this);
    command.args(["measure", what]).env_remove("REENACT");
    if recorded {
        command
            .env("REENACT", "record")
            .env("REENACT_TRACE", directory.path().join("trace"));
    }
    let output = command.output().expect("it runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    printed.trim().parse().expect("a number")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, what] = &arguments[..]
        && command == "measure"
    {
        println!("{}", measure(what));
        return;
    }
    let ways = [("barrier", false), ("phaser", false), ("phaser", true)];
    let mut rounds: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for (times, (what, recorded)) in rounds.iter_mut().zip(ways) {
            times.push(measure_elsewhere(what, recorded));
        }
    }
    let [barrier, off, recorded] = rounds.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    });
    println!("| | ns per phase | to std |");
    println!("|---|---|---|");
    println!("| std::sync::Barrier | {barrier:.1} | 1.00 |");
    println!("| Phaser, off | {off:.1} | {:.2} |", off / barrier);
    println!(
        "| Phaser, recorded | {recorded:.1} | {:.2} |",
        recorded / barrier
    );
}
