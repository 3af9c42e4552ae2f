//! Several processes that explore the same program, each a copy of the first.
//!
//! A thread would not do: what it forks could not go on to `main`, which is another thread's. A copy of the whole process
//! can, and it knows what the first one knew. What came of its part it tells at its end, by names where numbers may differ, and
//! ends without coming to `main` itself.

use std::{io, os::unix::net::UnixStream, time::Duration};

use reenact_multiverse::{
    Activity,
    explore::{Divergence, Limit, Part, Step, Tally},
};

use super::wire::{Message, too_short};

/// The processes, as one of them sees it.
pub(in crate::explore) struct Family {
    tally: &'static Tally,
    /// Where the others tell what came of their parts, in the first.
    others: Vec<(libc::pid_t, UnixStream)>,
    /// Where to tell it, in the others.
    first: Option<UnixStream>,
}

/// What came of the part of one of them.
#[derive(Debug, Default, PartialEq)]
pub(in crate::explore) struct Account {
    pub(in crate::explore) executions: u64,
    pub(in crate::explore) steps: u64,
    /// Executions without an end.
    pub(in crate::explore) endless: u64,
    pub(in crate::explore) was_too_coarse: bool,
    pub(in crate::explore) stopped_by: Vec<Limit>,
    pub(in crate::explore) divergence: Option<Divergence>,
    /// The number of an execution that failed, and its schedule: who, and in which of the ways it can go.
    pub(in crate::explore) bad: Option<(u64, Vec<(String, u32)>)>,
}

impl Family {
    /// Makes so many of this process, or as many as there can be. `settle` is called in each of the others.
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
            // SAFETY: This process has no other threads: it has not come to its `main`.
            match unsafe { libc::fork() } {
                -1 => break,
                0 => {
                    // SAFETY: It asks for a signal, should the first one be gone.
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

    /// Tells what came of the own part and ends, unless this is the first: then, what came of those of the others. Nothing if one
    /// of them cannot say.
    pub(in crate::explore) fn gather(mut self, own: &Account) -> Option<Vec<Account>> {
        if let Some(first) = &mut self.first {
            // If it cannot be told, nobody wants to know any more.
            let _ = own.write().send(first);
            // SAFETY: It ends the process, of which nothing has begun that would have to be ended.
            unsafe { libc::_exit(0) };
        }
        let accounts = self.others.iter_mut().map(|(process, stream)| {
            let message = Message::receive(stream);
            let mut status = 0;
            // SAFETY: A child of this process, and a place for its status.
            while unsafe { libc::waitpid(*process, &mut status, 0) } < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            Account::read(&mut message.ok()?).ok()
        });
        let accounts: Vec<_> = accounts.collect();
        accounts.into_iter().collect()
    }
}

/// A tally that this process shares with those that it will fork. There are few, and they are never given back.
fn shared() -> &'static Tally {
    // SAFETY: New memory, of which nobody knows, that is all zero.
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
    // SAFETY: There is room for one, at the start of a page, and it stays.
    unsafe {
        memory.write(Tally::default());
        &*memory
    }
}

impl Account {
    fn write(&self) -> Message {
        let mut message = Message::default();
        message.word(self.executions);
        message.word(self.steps);
        message.word(self.endless);
        message.word(self.was_too_coarse.into());
        message.word(self.stopped_by.len() as u64);
        for limit in &self.stopped_by {
            let (kind, value) = match *limit {
                Limit::Executions(executions) => (0, executions),
                Limit::Steps(steps) => (1, steps.into()),
                Limit::Time(time) => (2, time.as_nanos() as u64),
                Limit::Failure => (3, 0),
                Limit::Cancelled => (4, 0),
                Limit::Divergence => (5, 0),
                Limit::Unreached => (6, 0),
            };
            message.word(kind);
            message.word(value);
        }
        message.word(self.divergence.is_some().into());
        if let Some(divergence) = &self.divergence {
            message.word(divergence.index as u64);
            message.word(divergence.step.activity.0.into());
            message.word(divergence.step.choice.into());
            message.text(&divergence.expected);
            message.text(&divergence.found);
        }
        message.word(self.bad.is_some().into());
        if let Some((number, steps)) = &self.bad {
            message.word(*number);
            message.word(steps.len() as u64);
            for (who, choice) in steps {
                message.text(who);
                message.word((*choice).into());
            }
        }
        message
    }

    fn read(message: &mut Message) -> io::Result<Account> {
        let mut account = Account {
            executions: message.read()?,
            steps: message.read()?,
            endless: message.read()?,
            was_too_coarse: message.read()? != 0,
            ..Account::default()
        };
        for _ in 0..message.count()? {
            let (kind, value) = (message.read()?, message.read()?);
            account.stopped_by.push(match kind {
                0 => Limit::Executions(value),
                1 => Limit::Steps(value.try_into().map_err(|_| too_short())?),
                2 => Limit::Time(Duration::from_nanos(value)),
                3 => Limit::Failure,
                4 => Limit::Cancelled,
                5 => Limit::Divergence,
                6 => Limit::Unreached,
                _ => return Err(too_short()),
            });
        }
        if message.read()? != 0 {
            account.divergence = Some(Divergence {
                index: message.read()? as usize,
                step: Step {
                    activity: Activity(message.small()?),
                    choice: message.small()?,
                },
                expected: message.read_text()?,
                found: message.read_text()?,
            });
        }
        if message.read()? != 0 {
            let number = message.read()?;
            let steps = (0..message.count()?).map(|_| Ok((message.read_text()?, message.small()?)));
            account.bad = Some((number, steps.collect::<io::Result<_>>()?));
        }
        Ok(account)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_the_same_after_having_been_a_message() {
        let account = Account {
            executions: 3,
            steps: 40,
            endless: 1,
            was_too_coarse: true,
            stopped_by: vec![
                Limit::Executions(3),
                Limit::Steps(7),
                Limit::Time(Duration::from_millis(20)),
                Limit::Failure,
                Limit::Cancelled,
                Limit::Divergence,
                Limit::Unreached,
            ],
            divergence: Some(Divergence {
                index: 2,
                step: Activity(1).into(),
                expected: "lock".to_owned(),
                found: "send".to_owned(),
            }),
            bad: Some((9, vec![("main.0".to_owned(), 0), ("main".to_owned(), 2)])),
        };
        for account in [account, Account::default()] {
            assert_eq!(Account::read(&mut account.write()).unwrap(), account);
        }
    }
}
