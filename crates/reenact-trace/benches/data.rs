//! What it costs to store data and to read them again. Times are of a clock on the wall: the thread that stores and the one
//! that writes to the disk run side by side.
//!
//! ```text
//! cargo bench -p reenact-trace --bench data
//! ```

use std::{
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use reenact_trace::{Program, Storage, Trace, Writer};

fn main() {
    let directory = tempfile::tempdir().expect("a place for files");
    let path = directory.path().join("bench.reenact");
    println!("| data | stored | made one file | read |");
    println!("|---|---|---|---|");
    for (what, length, count, same) in [
        ("1000000 of 8 bytes", 8, 1_000_000, false),
        ("1000000 of 100 bytes", 100, 1_000_000, false),
        ("50000 of 4 KiB", 4 << 10, 50_000, false),
        ("200 of 1 MiB", 1 << 20, 200, false),
        ("1000000 times the same 4 KiB", 4 << 10, 1_000_000, true),
    ] {
        row(&path, what, length, count, same);
        fs::remove_file(&path).expect("the trace is there");
    }
}

fn row(path: &Path, what: &str, length: usize, count: u64, same: bool) {
    let stopped = |why| panic!("{why}");
    let writer =
        Writer::create(path, &Program::default(), Storage::File, stopped).expect("a writer");
    let mut appender = writer.appender(0).expect("a chunk");
    let mut bytes = vec![7; length];
    let begin = Instant::now();
    for number in 0..count {
        if !same {
            bytes[..8].copy_from_slice(&number.to_le_bytes());
        }
        appender.data(black_box(&bytes)).expect("an id");
    }
    let stored = begin.elapsed();
    drop(appender);
    let begin = Instant::now();
    writer.finish().expect("one file");
    let finished = begin.elapsed();
    let trace = Trace::open(path).expect("a trace");
    let ids = trace.data_summary().count;
    let begin = Instant::now();
    for id in 0..ids {
        black_box(trace.data(id).expect("data"));
    }
    println!(
        "| {what} | {} | {finished:.0?} | {} |",
        each(stored, count),
        each(begin.elapsed(), ids)
    );
}

fn each(time: Duration, count: u64) -> String {
    format!("{:.0} ns each", time.as_secs_f64() * 1e9 / count as f64)
}
