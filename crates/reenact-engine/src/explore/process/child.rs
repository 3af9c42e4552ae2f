//! An execution in a process of its own, which takes the steps that its controller requests.

use std::{
    collections::HashMap,
    io,
    os::unix::net::UnixStream,
    sync::{Arc, Mutex, PoisonError},
};

use reenact_explore::Links;

use super::{
    EXECUTION,
    this_process::ThisProcess,
    watch,
    wire::{Command, PendingOperation, Performed, Snapshot},
};
use crate::{
    captured::threads::in_kernel,
    explore::{
        Execution, HERE,
        fiber::Pause,
        follow::follow,
        message::{receive, send},
        schedule::Schedule,
        stuck,
        task_stack::{TaskStack, TurnToken},
        view::View,
    },
    external::stay_untracked,
    loom::{AtomicU32, Ordering::SeqCst},
    raw, seeds, site,
};

/// The turn tokens of threads that were created and have not begun.
static NEWBORN: Mutex<Option<HashMap<u32, Arc<TurnToken>>>> = Mutex::new(None);
/// Set when the exploring process has acknowledged that the program ends.
static END_IS_ACKNOWLEDGED: AtomicU32 = AtomicU32::new(0);

fn newborn<R>(action: impl FnOnce(&mut HashMap<u32, Arc<TurnToken>>) -> R) -> R {
    // A thread that begins may have the lock while another one has the turn.
    in_kernel(|| {
        let mut newborn = NEWBORN.lock().unwrap_or_else(PoisonError::into_inner);
        action(newborn.get_or_insert_default())
    })
}

/// Creates the turn token of a new thread of the program.
pub(in crate::explore) fn stack_of(number: u32) -> TaskStack {
    let token = Arc::new(TurnToken::default());
    newborn(|newborn| newborn.insert(number, Arc::clone(&token)));
    TaskStack::Thread(token)
}

/// Reports that a thread that was created will not begin.
pub(in crate::explore) fn end_not_started(number: u32) {
    if let Some(token) = newborn(|newborn| newborn.remove(&number)) {
        token.give_back(Pause::Done);
    }
}

/// Makes the calling thread this activity. Returns when it is its turn.
pub(in crate::explore) fn begin_thread(number: u32) {
    if let Some(this) = EXECUTION.get()
        && let Some(token) = newborn(|newborn| newborn.remove(&number))
    {
        HERE.set(Arc::as_ptr(&this.execution));
        token.take();
        OWN.set(Some(token));
    }
}

/// Ends the calling thread as an activity.
pub(in crate::explore) fn end_thread() {
    if let Some(token) = OWN.take() {
        HERE.set(std::ptr::null());
        token.give_back(Pause::Done);
    }
}

thread_local! {
    /// The turn token of the calling thread.
    static OWN: std::cell::RefCell<Option<Arc<TurnToken>>> = const { std::cell::RefCell::new(None) };
}

/// What chooses the next step.
pub(super) enum Control {
    /// The exploring process at the other end of the socket.
    Obey(UnixStream),
    /// A schedule; there is no exploring process.
    Follow(Schedule),
}

/// Starts the thread that controls the others.
pub(super) fn control(execution: Arc<Execution>, main: Arc<TurnToken>, control: Control) {
    extern "C" fn at_exit() {
        let Some(this) = EXECUTION.get().filter(|_| !HERE.get().is_null()) else {
            return;
        };
        let own = OWN.take();
        this.execution.exits(own.is_none());
        let own = own.unwrap_or_else(|| Arc::clone(&this.main));
        HERE.set(std::ptr::null());
        own.give_back(Pause::Done);
        while END_IS_ACKNOWLEDGED.load(SeqCst) == 0 {
            raw::sleep_on(&END_IS_ACKNOWLEDGED, 0);
        }
    }
    // SAFETY: `at_exit` is an `extern "C"` function without arguments, and may run at any exit of the program.
    unsafe { libc::atexit(at_exit) };
    let control = move || {
        stay_untracked();
        stuck::runs_here();
        // Light activities run on this thread.
        seeds::give_to_worker();
        execution.begin_process(main);
        match control {
            Control::Obey(stream) => {
                // An error means that the exploring process has ended.
                let _ = obey(&execution, stream);
            }
            Control::Follow(schedule) => return follow_here(execution, &schedule),
        }
        if !execution.is_about_to_end() {
            // SAFETY: `_exit` only ends the process, whatever its threads do.
            unsafe { libc::_exit(0) };
        }
    };
    let thread = std::thread::Builder::new().name("reenact-explore".to_owned());
    if let Err(error) = thread.spawn(control) {
        eprintln!("reenact: cannot start a thread to explore with: {error}");
        // SAFETY: `_exit` only ends the process.
        unsafe { libc::_exit(1) };
    }
}

/// Follows a schedule in this process. If no activity can continue in the end, reports it and leaves all threads where
/// they are, so that a debugger can inspect them.
fn follow_here(execution: Arc<Execution>, schedule: &Schedule) {
    let program = ThisProcess(execution);
    let followed = follow(&program, schedule, usize::MAX);
    if let Some(divergence) = &followed.divergence {
        eprintln!("reenact: the program does not follow the schedule exactly: {divergence}");
    }
    END_IS_ACKNOWLEDGED.store(1, SeqCst);
    raw::wake_all(&END_IS_ACKNOWLEDGED);
    for failure in &followed.failures {
        eprintln!("reenact: {failure}");
    }
}

fn obey(execution: &Execution, mut stream: UnixStream) -> io::Result<()> {
    let stream = &mut stream;
    send(stream, &execution.snapshot(None))?;
    loop {
        match receive(stream)? {
            Command::Step(step, None) => {
                execution.step(step);
                send(stream, &execution.snapshot(None))?;
            }
            Command::Step(step, Some(moment)) => {
                let mut links = Links::default();
                let event = execution.step_at(step, moment, &mut links);
                send(
                    stream,
                    &execution.snapshot(Some(Performed { event, links })),
                )?;
            }
            Command::Links(activity) => {
                let mut links = Links::default();
                execution.state().links(activity.0, &mut links);
                send(stream, &links)?;
            }
            Command::Refine(granularity) => {
                execution.state().refine(granularity);
                send(stream, &())?;
            }
            Command::Failures => {
                let failures = execution.state().failures();
                send(stream, &failures)?;
            }
            Command::View => send(stream, &execution.view())?,
            Command::End => {
                END_IS_ACKNOWLEDGED.store(1, SeqCst);
                raw::wake_all(&END_IS_ACKNOWLEDGED);
                return Ok(());
            }
        }
    }
}

impl Execution {
    /// Begins, with the process's main thread as the first activity.
    fn begin_process(&self, main: Arc<TurnToken>) {
        self.state().becomes_process();
        self.begin_with(TaskStack::Thread(main));
    }

    /// Returns the state of the execution while all activities wait.
    fn snapshot(&self, performed: Option<Performed>) -> Snapshot {
        self.note_repetitions();
        let state = &mut *self.state();
        let pending = (0..state.activities()).map(|number| {
            Some(PendingOperation {
                event: state.pending(number)?.clone(),
                is_enabled: state.is_enabled(number),
                choices: state.choices(number),
                prospect: state.prospect(number),
                message: state.message(number),
            })
        });
        // An activity that exits the process while the main activity is still running ends all others, too.
        let pending = match state.has_exited || state.is_interrupted() {
            true => Vec::new(),
            false => pending.collect(),
        };
        Snapshot {
            pending,
            has_ended: state.main_has_ended,
            births: state.families.take_log(),
            foreign: (state.families.foreign())
                .map(|(number, name)| (number, name.to_owned()))
                .collect(),
            met: state.names.take_log(),
            performed,
            is_deadlock: state.is_deadlock(),
            learned: state.learned,
            panics: state.panics_that_end(),
            is_interrupted: state.is_interrupted(),
            notes: self.supervisor.news(),
            found: match state.wants_labels {
                true => site::news(),
                false => Vec::new(),
            },
            step_result: state.step_result.take(),
        }
    }

    /// Returns the state of the execution for display, while all activities wait.
    fn view(&self) -> View {
        View {
            watched: watch::values(),
            ..self.state().view()
        }
    }

    /// Notes that the program exits, by its main activity or by another one.
    fn exits(&self, by_main: bool) {
        let state = &mut *self.state();
        state.has_exited |= !by_main;
        state.main_has_ended = true;
    }

    fn is_about_to_end(&self) -> bool {
        self.state().main_has_ended
    }
}
