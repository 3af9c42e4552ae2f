//! The exploring side of a whole program: each execution is a child process.

use std::{
    cell::{Cell, RefCell},
    fs::File,
    io,
    os::unix::net::UnixStream,
    sync::Arc,
    time::{Duration, Instant},
};

use reenact_explore::{Activity, Links, Moment, Run, Runs, Step, Verdict};
use serde::de::DeserializeOwned;

use super::{
    child::Control,
    family::Family,
    printed,
    wire::{Command, PendingOperation, Snapshot},
};
use crate::{
    Arrival, ObjectName,
    explore::{
        Event, Execution,
        failure::Failure,
        gap::{Gap, StuckActivity},
        input,
        message::{receive, send},
        names::{Families, ObjectTable},
        objects::names_of,
        recorded::RecordedInput,
        run::KEYS,
        stuck,
        subject::{Describe, Granularity, Subject},
        supervisor::Supervisor,
        view::View,
    },
    seeds,
    site::{self, Site},
};

/// The program of this process, which each child continues.
pub(crate) struct Forked {
    /// What is known about all executions. A child begins with a copy of it.
    execution: Arc<Execution>,
    /// Whether the output of the program is shown.
    pub(in crate::explore) is_shown: Cell<bool>,
    /// The file for its output if it is not shown.
    printed: RefCell<Option<Arc<File>>>,
}

/// The panic payload with which a forked child unwinds out of the exploring code.
struct IsChild;

impl Forked {
    pub(in crate::explore) fn new(recorded: Option<RecordedInput>) -> Forked {
        // The keys of a recorded run take precedence: only the first call sets the keys.
        seeds::set(KEYS);
        input::prepare();
        let execution = Execution::new(Arc::default());
        execution.state().recorded = recorded.map(Arc::new);
        Forked {
            execution,
            is_shown: Cell::new(false),
            printed: RefCell::new(printed::file().ok().map(Arc::new)),
        }
    }

    /// Makes releasing a lock a step in later executions.
    pub(in crate::explore) fn let_releases_be_steps(&self) {
        self.execution.state().granularity.releases = true;
    }

    /// Makes dropping an end of a queue a step in later executions.
    pub(in crate::explore) fn let_drops_be_steps(&self) {
        self.execution.state().granularity.drops = true;
    }

    /// Starts an execution whose steps are at least this fine from the beginning.
    pub(in crate::explore) fn start_with(&self, granularity: Granularity) -> ForkedRun {
        let before = self.granularity();
        self.refine(granularity);
        let run = self.start();
        // What has been learned to need finer steps remains.
        let state = &mut *self.execution.state();
        state.granularity = before.or(state.learned);
        run
    }

    /// Calls the function with the names of objects and activities.
    pub(in crate::explore) fn with_names<R>(
        &self,
        use_names: impl FnOnce(&ObjectTable, &Families) -> R,
    ) -> R {
        let state = &*self.execution.state();
        use_names(&state.names, &state.families)
    }

    /// Forks this process until `count` processes explore. Each has a separate file for its output.
    pub(in crate::explore) fn divide(&self, count: usize) -> Family {
        Family::new(count, || {
            // Each has threads of its own to ask.
            if self.execution.supervisor.until().is_some() {
                stuck::prepare();
            }
            self.printed.replace(printed::file().ok().map(Arc::new));
        })
    }

    /// Forks a child. The child unwinds to where this process started to explore, and the program continues there.
    fn fork(&self) -> io::Result<ChildProcess> {
        let (ours, theirs) = UnixStream::pair()?;
        // SAFETY: This process has no other threads, because it has not reached its `main`.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(ours);
                // SAFETY: `prctl` only requests a signal for when the exploring process ends.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                if !self.is_shown.get() {
                    printed::print_to(self.printed.borrow().as_deref());
                }
                input::begin_process();
                let is_shown = self.is_shown.get();
                super::become_execution(&self.execution, Control::Obey(theirs), is_shown);
                std::panic::resume_unwind(Box::new(IsChild));
            }
            process => Ok(ChildProcess {
                process,
                stream: ours,
                status: None,
            }),
        }
    }

    /// Runs `explore` in this process. Returns none in the child processes that it forks.
    pub(in crate::explore) fn in_parent<R>(explore: impl FnOnce() -> R) -> Option<R> {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(explore)) {
            Ok(result) => Some(result),
            Err(panic) if panic.is::<IsChild>() => {
                // The payload is leaked, so that nothing of what the child continues to use is freed.
                std::mem::forget(panic);
                None
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// A child process that is an execution.
struct ChildProcess {
    process: libc::pid_t,
    stream: UnixStream,
    /// Its exit status, once it has ended.
    status: Option<libc::c_int>,
}

impl ChildProcess {
    fn ask<T: DeserializeOwned>(
        &mut self,
        command: &Command,
        until: Option<Instant>,
    ) -> io::Result<T> {
        send(&mut self.stream, command)?;
        self.receive(until)
    }

    /// Receives a reply. If the time is up before it comes, the error says so.
    fn receive<T: DeserializeOwned>(&mut self, until: Option<Instant>) -> io::Result<T> {
        if until.is_some() {
            self.stream.set_read_timeout(left(until))?;
        }
        receive(&mut self.stream)
    }

    /// Waits for its end. Returns none if the time is up before.
    fn wait(&mut self, until: Option<Instant>) -> Option<libc::c_int> {
        let options = match until {
            Some(_) => libc::WNOHANG,
            None => 0,
        };
        let late = left(until).map(|left| Instant::now() + left);
        while self.status.is_none() {
            let mut status = 0;
            // SAFETY: The process is a child of this one, and `status` is a valid place for its status.
            match unsafe { libc::waitpid(self.process, &mut status, options) } {
                0 if late.is_some_and(|late| Instant::now() >= late) => return None,
                0 => std::thread::sleep(POLL),
                -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => self.status = Some(status),
            }
        }
        self.status
    }
}

/// How long an execution may take to come to its next operation once its time is up.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long the thread may take to say where it is.
const TO_ANSWER: Duration = Duration::from_millis(600);
/// How often to look whether a process has ended, if its time is limited.
const POLL: Duration = Duration::from_micros(200);

/// Returns how long to wait for an execution with this time limit.
fn left(until: Option<Instant>) -> Option<Duration> {
    until.map(|until| until.saturating_duration_since(Instant::now()) + PATIENCE)
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        if self.status.is_none() {
            // SAFETY: The process is a child of this one that has not been waited for, so its id has not been reused.
            unsafe { libc::kill(self.process, libc::SIGKILL) };
            self.wait(None);
        }
    }
}

/// An execution of a whole program.
pub(crate) struct ForkedRun {
    execution: Arc<Execution>,
    child: RefCell<Option<ChildProcess>>,
    snapshot: Snapshot,
    /// Why the process could not be created.
    failure: Option<String>,
    has_ended: bool,
    /// Whether it cannot be continued.
    is_interrupted: Cell<bool>,
    /// Whether the child ended without reporting it.
    is_dead: bool,
    printed: Option<Arc<File>>,
}

/// Returns whether a reply did not come in time.
fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// Maximum time that an execution may take to send its view.
const LOOK: Duration = Duration::from_secs(10);

impl ForkedRun {
    /// Continues from the child's snapshot; an error means that the child has ended, or that this activity does not come
    /// to its next operation.
    fn update(&mut self, snapshot: io::Result<Snapshot>, who: Activity) {
        match snapshot {
            Ok(mut snapshot) => {
                let supervisor = &self.execution.supervisor;
                if let Some(notes) = snapshot.notes.take() {
                    supervisor.add(notes);
                }
                if snapshot.is_interrupted || supervisor.is_late() {
                    self.is_interrupted.set(true);
                }
                let state = &mut *self.execution.state();
                for &(parent, index) in &snapshot.births {
                    state.families.child(parent, index);
                }
                for (number, name) in &snapshot.foreign {
                    state.families.know_foreign(*number, name);
                }
                for met in &snapshot.met {
                    state.names.meet_again(met);
                }
                // The log is for the exploring process: its own additions are not news, and its children must not
                // report them again.
                state.families.take_log();
                state.names.take_log();
                state.granularity = state.granularity.or(snapshot.learned);
                state.learned = state.learned.or(snapshot.learned);
                // Later executions need not look these up again.
                snapshot.found.iter().copied().for_each(site::learn);
                self.has_ended = snapshot.has_ended;
                self.snapshot = snapshot;
            }
            Err(error) => {
                if is_late(&error) {
                    self.is_stuck(who);
                }
                self.has_ended = true;
                self.is_dead = true;
                self.snapshot = Snapshot::default();
            }
        }
    }

    /// Ends the execution, in which this activity does not come to its next operation.
    fn is_stuck(&self, who: Activity) {
        self.is_interrupted.set(true);
        let Some(child) = self.child.borrow_mut().take() else {
            return;
        };
        let until = Instant::now() + TO_ANSWER;
        let seen = stuck::running().and_then(|thread| stuck::look_at(child.process, thread, until));
        let seen = seen.unwrap_or_else(|| StuckActivity {
            who: self.execution.state().families.name(who.0),
            is_waiting: false,
            site: None,
            after: None,
        });
        self.execution.supervisor.note(Gap::Stuck(seen));
    }

    fn until(&self) -> Option<Instant> {
        self.execution.supervisor.until()
    }

    fn next(&self, activity: Activity) -> Option<&PendingOperation> {
        self.snapshot.pending.get(activity.0 as usize)?.as_ref()
    }

    /// Returns how the pending operation of an activity would go now: of several operations, a bit for each possible
    /// one; otherwise 0 if it would be declined.
    pub(in crate::explore) fn prospect(&self, activity: Activity) -> u64 {
        self.next(activity).map_or(1, |next| next.prospect)
    }

    /// Returns the message that an activity is about to send, if it is identified by more than its sender.
    pub(in crate::explore) fn message(&self, activity: Activity) -> Option<Arrival> {
        self.next(activity)?.message
    }

    /// Returns whether the child has ended, or is about to.
    pub(in crate::explore) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the view of the execution; an empty one after its exit status has been read or after it ended without
    /// reporting it.
    pub(in crate::explore) fn view(&self) -> io::Result<View> {
        let mut child = self.child.borrow_mut();
        let child = child.as_mut().filter(|child| child.status.is_none());
        let Some(child) = child.filter(|_| !self.is_dead) else {
            return Ok(View::default());
        };
        child.stream.set_read_timeout(Some(LOOK))?;
        let view = child.ask(&Command::View, None);
        child.stream.set_read_timeout(None)?;
        view
    }

    /// Makes the steps at least this fine from now on.
    pub(in crate::explore) fn refine(&mut self, granularity: Granularity) {
        if let Some(child) = self.child.get_mut() {
            // An error means that the child has ended, which the next command detects.
            let _ = child.ask::<()>(&Command::Refine(granularity), None);
        }
    }

    /// Returns the output so far.
    pub(in crate::explore) fn printed(&self) -> String {
        let file = self.printed.as_deref();
        file.map(printed::read).unwrap_or_default()
    }

    /// Returns why the execution could not be created.
    pub(in crate::explore) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Returns the exit status as `waitpid` encodes it; none if the execution has not ended.
    pub(in crate::explore) fn end(&self) -> Option<libc::c_int> {
        match self.has_ended {
            true => self.status(),
            false => None,
        }
    }

    /// Returns whether the child ended without reporting it.
    pub(in crate::explore) fn is_dead(&self) -> bool {
        self.is_dead
    }

    /// Lets the program end, which it is about to do, and returns its exit status.
    fn status(&self) -> Option<libc::c_int> {
        let mut child = self.child.borrow_mut();
        let child = child.as_mut()?;
        if child.status.is_none() {
            // An error means that the child has ended.
            let _ = send(&mut child.stream, &Command::End);
        }
        let status = child.wait(self.until());
        if status.is_none() {
            self.is_interrupted.set(true);
            self.execution.supervisor.note(Gap::Stuck(StuckActivity {
                who: "main".to_owned(),
                is_waiting: true,
                site: None,
                after: Some("the end of the program".to_owned()),
            }));
        }
        status
    }
}

impl Runs for Forked {
    type Event = Event;
    type Run = ForkedRun;

    fn start(&self) -> ForkedRun {
        self.execution.state().names.begin();
        let printed = self.printed.borrow().clone();
        let mut run = ForkedRun {
            execution: Arc::clone(&self.execution),
            child: RefCell::new(None),
            snapshot: Snapshot::default(),
            failure: None,
            has_ended: false,
            is_interrupted: Cell::new(false),
            is_dead: false,
            printed: printed.clone().filter(|_| !self.is_shown.get()),
        };
        if let Some(printed) = &printed {
            // The output of the last execution would make this one look different.
            let _ = printed.set_len(0);
        }
        match self.fork() {
            Ok(mut child) => {
                let snapshot = child.receive(run.until());
                run.child = RefCell::new(Some(child));
                run.update(snapshot, Activity(Families::MAIN));
            }
            Err(error) => {
                let why = format!("a process for an execution cannot be created: {error}");
                self.execution
                    .supervisor
                    .note(Gap::Unsupported(why.clone()));
                run.failure = Some(why);
                run.has_ended = true;
                run.is_interrupted.set(true);
            }
        }
        run
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        a.is_dependent(b, &self.execution.state().names)
    }
}

impl Subject for Forked {
    fn name(&self, activity: Activity) -> String {
        self.execution.state().families.name(activity.0)
    }

    fn find(&self, name: &str) -> Option<Activity> {
        self.execution.state().families.find(name).map(Activity)
    }

    fn object_names(&self, events: &[Event]) -> Vec<Option<ObjectName>> {
        let state = &mut *self.execution.state();
        names_of(events, &state.names, &state.families)
    }

    fn granularity(&self) -> Granularity {
        self.execution.state().granularity
    }

    fn refine(&self, granularity: Granularity) {
        self.execution.state().refine(granularity);
    }

    fn be_fair(&self) {
        self.execution.state().is_fair = true;
    }

    fn want_labels(&self, are_wanted: bool) {
        self.execution.state().wants_labels = are_wanted;
    }

    fn allow_blocked(&self, are_allowed: bool) {
        self.execution.state().allows_blocked = are_allowed;
    }

    fn wake_spuriously(&self, most: u32) {
        self.execution.state().spurious_wakeups = most;
    }

    fn supervisor(&self) -> &Supervisor {
        &self.execution.supervisor
    }
}

impl Run for ForkedRun {
    type Event = Event;

    fn activities(&self) -> u32 {
        self.snapshot.pending.len() as u32
    }

    fn pending(&self, activity: Activity) -> Option<Event> {
        self.next(activity).map(|next| next.event.clone())
    }

    fn is_enabled(&self, activity: Activity) -> bool {
        !self.is_interrupted.get() && self.next(activity).is_some_and(|next| next.is_enabled)
    }

    fn choices(&self, activity: Activity) -> u32 {
        self.next(activity).map_or(1, |next| next.choices)
    }

    fn step(&mut self, step: Step) {
        let until = self.until();
        let child = self.child.get_mut().as_mut();
        if let Some(snapshot) = child.map(|child| child.ask(&Command::Step(step, None), until)) {
            self.update(snapshot, step.activity);
        }
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Event {
        let announced = self.pending(step.activity);
        let until = self.until();
        let child = self.child.get_mut().as_mut();
        let command = Command::Step(step, Some(moment));
        if let Some(snapshot) = child.map(|child| child.ask(&command, until)) {
            self.update(snapshot, step.activity);
        }
        match self.snapshot.performed.take() {
            Some(performed) => {
                links.append(&performed.links);
                performed.event
            }
            None => announced.expect("an activity that takes a step was about to"),
        }
    }

    fn links(&self, activity: Activity, links: &mut Links) {
        let mut child = self.child.borrow_mut();
        if let Some(child) = &mut *child
            && let Ok(own) = child.ask(&Command::Links(activity), self.until())
        {
            links.append(&own);
        }
    }

    fn verdict(&self) -> Verdict {
        if self.is_interrupted.get() {
            return Verdict::Interrupted;
        }
        if self.snapshot.is_deadlock && !self.has_ended {
            return Verdict::Deadlock;
        }
        if !self.has_ended {
            return Verdict::Finished;
        }
        match self.status() {
            Some(0) if self.snapshot.is_deadlock => Verdict::Deadlock,
            Some(0) => Verdict::Finished,
            Some(_) => Verdict::Failed,
            None => Verdict::Interrupted,
        }
    }
}

impl Describe for ForkedRun {
    fn name(&self, event: &Event) -> (String, String) {
        (event.op.name().to_owned(), Site::text(event.line()))
    }

    fn describe(&self, event: &Event) -> (String, String) {
        event.text(&self.execution.state().families)
    }

    fn step_result(&self) -> Option<String> {
        self.snapshot.step_result.clone()
    }

    fn failures(&self) -> Vec<Failure> {
        let mut failures = Vec::new();
        if let Some(child) = &mut *self.child.borrow_mut()
            && let Ok(reported) = child.ask::<Vec<Failure>>(&Command::Failures, self.until())
        {
            failures.extend(reported);
        }
        if self.has_ended
            && let Some(status) = self.status().filter(|&status| status != 0)
        {
            for (number, panic) in &self.snapshot.panics {
                let who = self.execution.state().families.name(*number);
                failures.push(Failure::Panic(who, panic.clone()));
            }
            failures.push(Failure::Ended(match libc::WIFSIGNALED(status) {
                true => format!("killed by signal {}", libc::WTERMSIG(status)),
                false => format!("exited with status {}", libc::WEXITSTATUS(status)),
            }));
        }
        failures
    }

    fn outcome(&self) -> String {
        let failures: Vec<_> = self.failures().iter().map(ToString::to_string).collect();
        let mut outcome = match (failures.is_empty(), self.has_ended) {
            (true, true) => "ended as it should".to_owned(),
            (true, false) => "had not ended when it was stopped".to_owned(),
            (false, _) => failures.join("\n"),
        };
        let printed = self.printed();
        if !printed.is_empty() {
            outcome += "\nprinted:";
            for line in printed.lines() {
                outcome += &format!("\n  {line}");
            }
        }
        outcome
    }
}
