//! Searches a function of this process, and returns when the time is up, whatever the function does.
//!
//! The activities of a function share a thread, and nothing can make a thread continue that waits in the kernel. So if
//! the time is limited, the search runs on a thread of its own. When its time is up it is interrupted: it ends before
//! the next step. If it does not come to a next step, it is left behind.

use std::{
    ops::ControlFlow,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use reenact_explore::Limit;

use super::{
    gap::Gap,
    run::Explored,
    search::{Finding, Search},
    stuck,
    supervisor::Supervisor,
};
use crate::external::untracked;

/// A program to search.
type Program = Arc<dyn Fn() + Send + Sync>;

/// How long a search may take to come to its next step once it is interrupted.
const TO_STOP: Duration = Duration::from_millis(100);
/// How long it may take to get ready for finding lines.
const TO_WARM_UP: Duration = Duration::from_millis(300);
/// How long the threads of a search may take to say where they are.
const TO_ANSWER: Duration = Duration::from_millis(600);

impl Search {
    /// Searches a program for a failure. Returns none in a process that is recorded or replayed.
    ///
    /// If the time is limited, it returns soon after the time is up. An activity that does not come to its next
    /// operation by then is left as it is, and reported.
    pub fn run_program(&self, program: &Program) -> Option<Finding> {
        let supervisor = Arc::<Supervisor>::default();
        let subject = supervised(program, &supervisor)?;
        if self.time.is_none() {
            return Some(self.run_supervised(&subject, program, &supervisor, &|_| ()));
        }
        drop(subject);
        stuck::prepare_once();
        let executions = Arc::new(AtomicU64::new(0));
        let (sender, receiver) = mpsc::channel();
        let search = self.clone();
        let began = Instant::now();
        let job = {
            let (program, supervisor) = (Arc::clone(program), Arc::clone(&supervisor));
            let executions = Arc::clone(&executions);
            move || {
                let Some(subject) = supervised(&program, &supervisor) else {
                    return;
                };
                let count = |so_far| executions.store(so_far, Relaxed);
                let finding = search.run_supervised(&subject, &program, &supervisor, &count);
                // Whoever receives it may expect that nothing of the program is left.
                drop((subject, program));
                // If nobody receives it, the search has been left behind.
                let _ = sender.send(finding);
            }
        };
        let name = thread::current()
            .name()
            .unwrap_or("reenact-search")
            .to_owned();
        let thread = untracked(|| thread::Builder::new().name(name).spawn(job));
        let Ok(thread) = thread else {
            let subject = supervised(program, &supervisor)?;
            return Some(self.run_supervised(&subject, program, &supervisor, &|_| ()));
        };
        let late = self.time.and_then(|time| began.checked_add(time));
        match wait(&receiver, &supervisor, late) {
            Ok(finding) => Some(finding),
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => None,
            },
            Err(RecvTimeoutError::Timeout) => {
                Some(self.left_behind(executions.load(Relaxed), &supervisor))
            }
        }
    }

    fn run_supervised(
        &self,
        subject: &Explored,
        program: &Program,
        supervisor: &Arc<Supervisor>,
        count: &dyn Fn(u64),
    ) -> Finding {
        let make = || supervised(program, supervisor).expect("it is explored here");
        self.run_on(subject, &make, &mut |progress| {
            count(progress.executions);
            ControlFlow::Continue(())
        })
    }

    /// Returns the result of a search that does not come to an end.
    fn left_behind(&self, executions: u64, supervisor: &Supervisor) -> Finding {
        let mut gaps: Vec<_> = self
            .time
            .map(Limit::Time)
            .map(Gap::Limit)
            .into_iter()
            .collect();
        gaps.extend(supervisor.notes().gaps);
        let process = rustix::process::getpid().as_raw_nonzero().get();
        let stuck = supervisor.threads().into_iter();
        let stuck = stuck.filter_map(|thread| {
            stuck::look_at(process, thread, Instant::now() + TO_ANSWER).map(Gap::Stuck)
        });
        gaps.extend(stuck);
        Finding {
            executions,
            steps: 0,
            covered: vec!["the executions so far".to_owned()],
            is_complete: false,
            gaps,
            divergence: None,
            failure: None,
        }
    }
}

fn supervised(program: &Program, supervisor: &Arc<Supervisor>) -> Option<Explored> {
    let program = Arc::clone(program) as Arc<dyn Fn()>;
    Explored::supervised(program, Arc::clone(supervisor))
}

/// Waits for the result of a search that is to end at this instant, or when it says itself, and interrupts it then.
fn wait(
    receiver: &mpsc::Receiver<Finding>,
    supervisor: &Supervisor,
    late: Option<Instant>,
) -> Result<Finding, RecvTimeoutError> {
    loop {
        let until = supervisor.until().max(late);
        let Some(until) = until else {
            return receiver.recv().map_err(|_| RecvTimeoutError::Disconnected);
        };
        let left = || until.saturating_duration_since(Instant::now());
        // Shortly before, because it is of use only then.
        match receiver.recv_timeout(left().saturating_sub(TO_WARM_UP)) {
            Err(RecvTimeoutError::Timeout) => stuck::warm_up(),
            ended => return ended,
        }
        match receiver.recv_timeout(left()) {
            Err(RecvTimeoutError::Timeout) => {}
            ended => return ended,
        }
        supervisor.interrupt_if_late();
        match receiver.recv_timeout(TO_STOP) {
            // It has found a failure meanwhile, and reports it.
            Err(RecvTimeoutError::Timeout) if supervisor.until() > Some(until) => {}
            ended => return ended,
        }
    }
}
