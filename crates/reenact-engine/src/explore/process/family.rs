//! Several processes that explore the same program, each a copy of the first.
//!
//! Threads cannot be used for this: a process forked from another thread could not continue to `main`, which belongs to
//! the main thread. A copy of the whole process can, and has all the knowledge of the first. At its end it reports the
//! results of its part, with names where numbers may differ between processes, and exits without reaching `main`.

use std::{io, os::unix::net::UnixStream};

use reenact_explore::{Divergence, Limit, Part, Tally};
use serde::{Deserialize, Serialize};

use crate::explore::{
    gap::Notes,
    message::{receive, send},
    subject::Granularity,
};

/// The processes, as seen by one of them.
pub(in crate::explore) struct Family {
    tally: &'static Tally,
    /// In the first process: the streams from which it reads the others' results.
    others: Vec<(libc::pid_t, UnixStream)>,
    /// In the others: the stream to which they write their results.
    first: Option<UnixStream>,
}

/// The results of one process's part.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::explore) struct Account {
    pub(in crate::explore) executions: u64,
    pub(in crate::explore) steps: u64,
    /// Number of executions that reached the limit of steps.
    pub(in crate::explore) endless: u64,
    /// How fine its steps were in the end.
    pub(in crate::explore) granularity: Granularity,
    pub(in crate::explore) stopped_by: Vec<Limit>,
    pub(in crate::explore) divergence: Option<Divergence>,
    /// The number of a failing execution and its schedule: the activity and the choice of each step.
    pub(in crate::explore) bad: Option<(u64, Vec<(String, u32)>)>,
    pub(in crate::explore) notes: Notes,
}

impl Family {
    /// Forks this process until there are `count`, or as many as possible. Calls `settle` in each of the new ones.
    pub(super) fn new(count: usize, settle: impl Fn()) -> Family {
        let mut family = Family {
            tally: shared(),
            others: Vec::new(),
            first: None,
        };
        for _ in 1..count {
            let Ok((ours, theirs)) = UnixStream::pair() else {
                break;
            };
            // SAFETY: This process has no other threads, because it has not reached its `main`.
            match unsafe { libc::fork() } {
                -1 => break,
                0 => {
                    // SAFETY: `prctl` only requests a signal for when the first process ends.
                    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                    family.others.clear();
                    family.first = Some(theirs);
                    settle();
                    break;
                }
                process => family.others.push((process, ours)),
            }
        }
        family
    }

    pub(in crate::explore) fn is_first(&self) -> bool {
        self.first.is_none()
    }

    pub(in crate::explore) fn part(&self) -> Part<'static> {
        Part {
            is_first: self.is_first(),
            tally: self.tally,
        }
    }

    /// In the first process, returns the results of the others, or none if one of them is missing. In the others, sends
    /// their own results and exits.
    pub(in crate::explore) fn gather(mut self, own: &Account) -> Option<Vec<Account>> {
        if let Some(first) = &mut self.first {
            // If this fails, the first process has ended.
            let _ = send(first, own);
            // SAFETY: `_exit` only ends the process; the program has not begun.
            unsafe { libc::_exit(0) };
        }
        let accounts = self.others.iter_mut().map(|(process, stream)| {
            let account = receive(stream).ok();
            let mut status = 0;
            // SAFETY: The process is a child of this one, and `status` is a valid place for its status.
            while unsafe { libc::waitpid(*process, &mut status, 0) } < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            account
        });
        let accounts: Vec<_> = accounts.collect();
        accounts.into_iter().collect()
    }
}

/// Returns a tally that this process shares with its future forks. There are few of them, and they are never freed.
fn shared() -> &'static Tally {
    // SAFETY: An anonymous mapping at an address that the kernel chooses aliases no other memory.
    let memory = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size_of::<Tally>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(memory, libc::MAP_FAILED, "there is no memory to share");
    let memory = memory.cast::<Tally>();
    // SAFETY: The mapping is page-aligned, large enough for a `Tally`, and never unmapped.
    unsafe {
        memory.write(Tally::default());
        &*memory
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reenact_explore::DivergencePoint;

    use super::*;
    use crate::explore::gap::{Gap, Reads};

    #[test]
    fn an_account_is_the_same_after_having_been_a_message() {
        let account = Account {
            executions: 3,
            steps: 40,
            endless: 1,
            granularity: Granularity::FINEST,
            stopped_by: vec![
                Limit::Executions(3),
                Limit::Steps(7),
                Limit::Time(Duration::from_millis(20)),
                Limit::Failure,
                Limit::Cancelled,
                Limit::Divergence,
                Limit::Unreached,
                Limit::Interrupted,
            ],
            divergence: Some(Divergence {
                point: DivergencePoint::Step(2),
                expected: "lock".to_owned(),
                found: "send".to_owned(),
            }),
            bad: Some((9, vec![("main.0".to_owned(), 0), ("main".to_owned(), 2)])),
            notes: Notes {
                gaps: vec![Gap::Input, Gap::Thread("main.0".to_owned())],
                reads: Reads::CLOCK,
            },
        };
        for account in [account, Account::default()] {
            let (mut ours, mut theirs) = UnixStream::pair().unwrap();
            send(&mut ours, &account).unwrap();
            assert_eq!(receive::<Account>(&mut theirs).unwrap(), account);
        }
    }
}
