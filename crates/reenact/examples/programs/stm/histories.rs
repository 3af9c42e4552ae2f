//! A program that says what its transactions read and wrote: `stm-history`.
//!
//! Every value that is written is written once, so a value that was read says which transaction wrote it. What committed
//! is printed. What was read in any attempt, whatever became of it, goes into the file that `ATTEMPTS` names, if it does:
//! how many attempts there are is not the same in a replay.

use std::{cell::RefCell, fmt::Write as _, io::Write as _};

use reenact::{
    stm::{StmResult, TVar, atomically},
    sync::Arc,
};

use crate::support::{Dice, jitter, run_workers};

const THREADS: usize = 3;
const TRANSACTIONS: usize = 150;
const VARIABLES: usize = 4;

pub(super) fn run(name: &str) -> bool {
    if name != "stm-history" {
        return false;
    }
    let variables: Arc<[TVar<u64>]> = (0..VARIABLES).map(|_| TVar::new(0)).collect();
    let histories = run_workers(THREADS, move |me| history(me, &variables));
    let attempts: String = histories.iter().map(|(_, attempts)| &**attempts).collect();
    if let Some(path) = std::env::var_os("ATTEMPTS") {
        let mut file = std::fs::File::create(path).expect("a file for attempts");
        file.write_all(attempts.as_bytes()).expect("room for them");
    }
    for (committed, _) in histories {
        print!("{committed}");
    }
    true
}

/// What a thread's transactions did, a line each: those that committed, and all attempts.
fn history(me: usize, variables: &[TVar<u64>]) -> (String, String) {
    let mut dice = Dice::new(me);
    let (mut committed, attempts) = (String::new(), RefCell::new(String::new()));
    for number in 0..TRANSACTIONS {
        let reads: Vec<_> = (0..1 + dice.roll(4))
            .map(|_| dice.roll(VARIABLES))
            .collect();
        let writes: Vec<_> = (0..dice.roll(3)).map(|_| dice.roll(VARIABLES)).collect();
        let line = atomically(|tx| {
            let mut line = format!("{me}");
            let result = reads.iter().try_for_each(|&index| -> StmResult<()> {
                let value = variables[index].read(tx)?;
                let _ = write!(line, " r{index}={value}");
                jitter();
                Ok(())
            });
            let _ = writeln!(attempts.borrow_mut(), "{line}");
            result?;
            for (nth, &index) in writes.iter().enumerate() {
                let value = (me * 100_000 + number * 10 + nth + 1) as u64;
                variables[index].write(tx, value)?;
                let _ = write!(line, " w{index}={value}");
            }
            jitter();
            Ok(line)
        });
        let _ = writeln!(committed, "{line}");
    }
    (committed, attempts.into_inner())
}
