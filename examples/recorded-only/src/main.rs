//! Workers take numbered jobs from a queue, and an actor collects who did what. The order differs from run to run.
//!
//! The crate depends on `reenact` with `default-features = false`, as a service would that is recorded in production:
//!
//! ```text
//! $ cargo build --package recorded-only
//! $ reenact record -o run.reenact -- target/debug/recorded-only
//! $ reenact replay run.reenact
//! ```

use std::time::{SystemTime, UNIX_EPOCH};

use reenact::{
    actor::spawn,
    sync::{Arc, Mutex, mpsc},
    thread,
};

const WORKERS: usize = 4;
const JOBS: u32 = 200;

/// Who did which job, in the order in which the workers report it.
#[derive(Default)]
struct Journal {
    lines: Vec<String>,
}

#[reenact::actor]
impl Journal {
    pub(crate) fn note(&mut self, worker: usize, job: u32) {
        self.lines.push(format!("worker {worker} did job {job}"));
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.lines.clone()
    }
}

fn main() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    println!("begins at {:?}", now.unwrap_or_default());
    let journal = spawn(Journal::default());
    let (sender, jobs) = mpsc::channel();
    let jobs = Arc::new(Mutex::new(jobs));
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let (jobs, journal) = (Arc::clone(&jobs), journal.clone());
            thread::spawn(move || {
                loop {
                    let next = jobs.lock().unwrap().recv();
                    let Ok(job) = next else { break };
                    journal.note(worker, job);
                    thread::yield_now();
                }
            })
        })
        .collect();
    for job in 0..JOBS {
        sender.send(job).unwrap();
    }
    drop(sender);
    for worker in workers {
        worker.join().unwrap();
    }
    for line in journal.all().wait().unwrap() {
        println!("{line}");
    }
}

#[cfg(feature = "explored-test")]
#[reenact::test]
fn explored() {}
