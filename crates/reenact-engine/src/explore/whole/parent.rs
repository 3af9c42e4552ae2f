//! Who explores a whole program: each execution is a child.

use std::{
    cell::{Cell, RefCell},
    fs::File,
    io,
    os::unix::net::UnixStream,
    sync::Arc,
    time::Duration,
};

use reenact_multiverse::{
    Activity,
    explore::{Links, Moment, Run, Runs, Step, Verdict},
};

use super::{
    child::Control,
    family::Family,
    glance::read_view,
    printed,
    wire::{Command, Message, Next, Snapshot, read_failures, read_links},
};
use crate::{
    Arrival, ObjectName,
    explore::{
        Event, World,
        failure::Failure,
        names::{Families, Things},
        objects::names_of,
        recorded::Recorded,
        run::KEYS,
        subject::{Fineness, Subject, Told},
        view::View,
    },
    seeds,
    site::{self, Site},
};

/// The program that this process would be, were it not exploring.
pub(crate) struct Forked {
    /// What is known of all executions; a child goes on with what it finds there.
    world: Arc<World>,
    /// Whether what the program prints is shown.
    pub(in crate::explore) is_shown: Cell<bool>,
    /// Where it goes if not.
    printed: RefCell<Option<Arc<File>>>,
}

/// What `fork` is in a child: it is not to come back to who explores.
struct IsChild;

impl Forked {
    pub(in crate::explore) fn new(recorded: Option<Recorded>) -> Forked {
        // Those of a recorded run, if there is one; the first that are set stay.
        seeds::set(KEYS);
        let world = World::new();
        world.state().recorded = recorded.map(Arc::new);
        Forked {
            world,
            is_shown: Cell::new(false),
            printed: RefCell::new(printed::file().ok().map(Arc::new)),
        }
    }

    /// In the executions from now on, giving a lock back is a step.
    pub(in crate::explore) fn let_releases_be_steps(&self) {
        self.world.state().fineness.releases = true;
    }

    /// In the executions from now on, leaving an end of a queue is a step.
    pub(in crate::explore) fn let_stops_be_steps(&self) {
        self.world.state().fineness.drops = true;
    }

    /// Starts an execution in which these are steps from the beginning, too.
    pub(in crate::explore) fn start_with(&self, fineness: Fineness) -> ForkedRun {
        let state = self.world.state();
        let before = state.fineness;
        state.refine(fineness);
        let run = self.start();
        // What had to be finer stays so.
        let state = self.world.state();
        state.fineness = before.or(state.learned);
        run
    }

    /// What things and activities are known by.
    pub(in crate::explore) fn names(&self) -> (&Things, &Families) {
        let state = self.world.state();
        (&state.names, &state.families)
    }

    /// Whether giving a lock back is.
    pub(in crate::explore) fn are_releases_steps(&self) -> bool {
        self.world.state().fineness.releases
    }

    /// Makes copies of this process, so that so many explore. What is printed in one is not mixed with that of others.
    pub(in crate::explore) fn divide(&self, count: usize) -> Family {
        Family::new(count, || {
            self.printed.replace(printed::file().ok().map(Arc::new));
        })
    }

    /// Makes a child. In the child, the program goes on where this process was started to explore: by unwinding.
    fn fork(&self) -> io::Result<Child> {
        let (ours, theirs) = UnixStream::pair()?;
        // SAFETY: This process has no other threads: it has not come to its `main`.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(ours);
                // SAFETY: It asks for a signal, should who explores be gone.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                if !self.is_shown.get() {
                    printed::print_to(self.printed.borrow().as_deref());
                }
                let is_shown = self.is_shown.get();
                super::become_execution(&self.world, Control::Obey(theirs), is_shown);
                std::panic::resume_unwind(Box::new(IsChild));
            }
            process => Ok(Child {
                process,
                stream: ours,
                status: None,
            }),
        }
    }

    /// Runs `explore`, in this process; in the children of it, returns none.
    pub(in crate::explore) fn in_parent<R>(explore: impl FnOnce() -> R) -> Option<R> {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(explore)) {
            Ok(result) => Some(result),
            Err(panic) if panic.is::<IsChild>() => {
                // What is known of other executions is not freed: it is this one's, too.
                std::mem::forget(panic);
                None
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// A child that is an execution.
struct Child {
    process: libc::pid_t,
    stream: UnixStream,
    /// How it ended, once it has.
    status: Option<libc::c_int>,
}

impl Child {
    fn ask(&mut self, command: &Command) -> io::Result<Message> {
        command.write().send(&mut self.stream)?;
        Message::receive(&mut self.stream)
    }

    /// Waits for its end.
    fn wait(&mut self) -> libc::c_int {
        *self.status.get_or_insert_with(|| {
            let mut status = 0;
            // SAFETY: A child of this process, and a place for its status.
            while unsafe { libc::waitpid(self.process, &mut status, 0) } < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            status
        })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.status.is_none() {
            // SAFETY: A child of this process, which has not been waited for.
            unsafe { libc::kill(self.process, libc::SIGKILL) };
            self.wait();
        }
    }
}

/// An execution of a whole program.
pub(crate) struct ForkedRun {
    world: Arc<World>,
    child: RefCell<Option<Child>>,
    snapshot: Snapshot,
    /// Why there is none any more.
    failure: Option<Failure>,
    has_ended: bool,
    /// Whether it could not say that it ended.
    is_dead: bool,
    printed: Option<Arc<File>>,
}

/// How long an execution may take to say what there is to see.
const LOOK: Duration = Duration::from_secs(10);

impl ForkedRun {
    /// What the child says now. Nothing any more: it has ended.
    fn listen(&mut self, message: io::Result<Message>) -> Option<Message> {
        let snapshot = message.and_then(|mut message| {
            let snapshot = Snapshot::read(&mut message)?;
            Ok((snapshot, message))
        });
        match snapshot {
            Ok((snapshot, message)) => {
                let state = self.world.state();
                for &(parent, index) in &snapshot.births {
                    state.families.child(parent, index);
                }
                for (number, name) in &snapshot.foreign {
                    state.families.know_foreign(*number, name);
                }
                for met in &snapshot.met {
                    state.names.meet_again(met);
                }
                // What this process learns is no news to who tells it; and its children must not tell it again.
                state.families.take_log();
                state.names.take_log();
                state.fineness = state.fineness.or(snapshot.learned);
                state.learned = state.learned.or(snapshot.learned);
                state.was_too_coarse |= snapshot.was_too_coarse;
                // The next ones need not find out again.
                snapshot.found.iter().copied().for_each(site::learn);
                self.has_ended = snapshot.has_ended;
                self.snapshot = snapshot;
                Some(message)
            }
            Err(_) => {
                self.has_ended = true;
                self.is_dead = true;
                self.snapshot = Snapshot::default();
                None
            }
        }
    }

    fn next(&self, activity: Activity) -> Option<&Next> {
        self.snapshot.pending.get(activity.0 as usize)?.as_ref()
    }

    /// How what an activity is about to do would go now: which of several operations are possible, a bit for each; otherwise 0
    /// if it would be declined.
    pub(in crate::explore) fn prospect(&self, activity: Activity) -> u64 {
        self.next(activity).map_or(1, |next| next.prospect)
    }

    /// The message that an activity is about to send, if that is known by more than its sender.
    pub(in crate::explore) fn message(&self, activity: Activity) -> Option<Arrival> {
        self.next(activity)?.message
    }

    /// Whether the child has ended, or is about to.
    pub(in crate::explore) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// What there is to see, until it has been asked how it ended; nothing of one that has ended without a word.
    pub(in crate::explore) fn view(&self) -> io::Result<View> {
        let mut child = self.child.borrow_mut();
        let child = child.as_mut().filter(|child| child.status.is_none());
        let Some(child) = child.filter(|_| !self.is_dead) else {
            return Ok(View::default());
        };
        child.stream.set_read_timeout(Some(LOOK))?;
        let view = child.ask(&Command::View);
        let view = view.and_then(|mut message| read_view(&mut message));
        child.stream.set_read_timeout(None)?;
        view
    }

    /// Lets these be steps from now on, too.
    pub(in crate::explore) fn refine(&mut self, fineness: Fineness) {
        if let Some(child) = self.child.get_mut() {
            // If it cannot be told, it has ended, which will be found out.
            let _ = child.ask(&Command::Refine(fineness));
        }
    }

    /// What it has printed.
    pub(in crate::explore) fn printed(&self) -> String {
        let file = self.printed.as_deref();
        file.map(printed::read).unwrap_or_default()
    }

    /// Why there is no execution.
    pub(in crate::explore) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// How it has ended, as the system writes it; nothing if it has not.
    pub(in crate::explore) fn end(&self) -> Option<libc::c_int> {
        match self.has_ended {
            true => self.status(),
            false => None,
        }
    }

    /// Whether it has ended without a word.
    pub(in crate::explore) fn is_dead(&self) -> bool {
        self.is_dead
    }

    /// Lets the program end, which it is about to: how.
    fn status(&self) -> Option<libc::c_int> {
        let mut child = self.child.borrow_mut();
        let child = child.as_mut()?;
        if child.status.is_none() {
            // If it cannot be told, it has ended.
            let _ = Command::End.write().send(&mut child.stream);
        }
        Some(child.wait())
    }
}

impl Runs for Forked {
    type Event = Event;
    type Run = ForkedRun;

    fn start(&self) -> ForkedRun {
        self.world.state().names.begin();
        let printed = self.printed.borrow().clone();
        let mut run = ForkedRun {
            world: Arc::clone(&self.world),
            child: RefCell::new(None),
            snapshot: Snapshot::default(),
            failure: None,
            has_ended: false,
            is_dead: false,
            printed: printed.clone().filter(|_| !self.is_shown.get()),
        };
        if let Some(printed) = &printed {
            // What is left of the last one would only make this one look different.
            let _ = printed.set_len(0);
        }
        match self.fork() {
            Ok(mut child) => {
                let message = Message::receive(&mut child.stream);
                run.child = RefCell::new(Some(child));
                run.listen(message);
            }
            Err(error) => {
                run.failure = Some(Failure::NoProcess(error.to_string()));
                run.has_ended = true;
            }
        }
        run
    }

    fn dependent(&self, a: &Event, b: &Event) -> bool {
        a.is_dependent(b, &self.world.state().names)
    }
}

impl Subject for Forked {
    fn name(&self, activity: Activity) -> String {
        self.world.state().families.name(activity.0)
    }

    fn find(&self, name: &str) -> Option<Activity> {
        self.world.state().families.find(name).map(Activity)
    }

    fn object_names(&self, events: &[Event]) -> Vec<Option<ObjectName>> {
        let state = self.world.state();
        names_of(events, &state.names, &state.families)
    }

    fn was_too_coarse(&self) -> bool {
        self.world.was_too_coarse()
    }

    fn fineness(&self) -> Fineness {
        self.world.state().fineness
    }

    fn refine(&self, fineness: Fineness) {
        self.world.state().refine(fineness);
    }

    fn want_labels(&self, are_wanted: bool) {
        self.world.state().wants_labels = are_wanted;
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
        self.next(activity).is_some_and(|next| next.is_enabled)
    }

    fn choices(&self, activity: Activity) -> u32 {
        self.next(activity).map_or(1, |next| next.choices)
    }

    fn step(&mut self, step: Step) {
        let child = self.child.get_mut().as_mut();
        if let Some(message) = child.map(|child| child.ask(&Command::Step(step, None))) {
            self.listen(message);
        }
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) -> Event {
        let announced = self.pending(step.activity);
        let child = self.child.get_mut().as_mut();
        let message = child.map(|child| child.ask(&Command::Step(step, Some(moment))));
        if let Some(message) = message
            && let Some(mut message) = self.listen(message)
        {
            // One that makes no sense is of a child that is about to be found dead.
            let _ = read_links(&mut message, links);
        }
        let performed = self.snapshot.performed.take();
        performed
            .or(announced)
            .expect("who takes a step was about to")
    }

    fn links(&self, activity: Activity, links: &mut Links) {
        let mut child = self.child.borrow_mut();
        if let Some(child) = &mut *child
            && let Ok(mut message) = child.ask(&Command::Links(activity))
        {
            let _ = read_links(&mut message, links);
        }
    }

    fn verdict(&self) -> Verdict {
        if self.failure.is_some() {
            return Verdict::Failed;
        }
        if self.snapshot.is_deadlock {
            return Verdict::Deadlock;
        }
        if !self.has_ended {
            return Verdict::Finished;
        }
        match self.status() {
            Some(0) => Verdict::Finished,
            _ => Verdict::Failed,
        }
    }
}

impl Told for ForkedRun {
    fn tell(&self, event: &Event) -> (String, String) {
        (event.op.name().to_owned(), Site::text(event.line()))
    }

    fn describe(&self, event: &Event) -> (String, String) {
        event.text(&self.world.state().families)
    }

    fn came_of_step(&self) -> Option<String> {
        self.snapshot.came_of.clone()
    }

    fn failures(&self) -> Vec<Failure> {
        let mut failures: Vec<_> = self.failure.iter().cloned().collect();
        let told = self.child.borrow_mut().as_mut().and_then(|child| {
            let mut message = child.ask(&Command::Failures).ok()?;
            read_failures(&mut message).ok()
        });
        failures.extend(told.into_iter().flatten());
        if self.has_ended
            && let Some(status) = self.status().filter(|&status| status != 0)
        {
            if let Some(panic) = &self.snapshot.panic {
                failures.push(Failure::Panic("main".to_owned(), panic.clone()));
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
