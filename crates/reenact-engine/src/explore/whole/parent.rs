//! Who explores a whole program: each execution is a child.

use std::{
    cell::{Cell, RefCell},
    fs::File,
    io,
    os::{
        fd::AsRawFd,
        unix::{fs::FileExt, net::UnixStream},
    },
    sync::Arc,
};

use reenact_multiverse::{
    Activity,
    explore::{Links, Moment, Run, Runs, Step, Verdict},
};

use super::{
    child::Control,
    wire::{Command, Message, Snapshot, read_failures, read_links},
};
use crate::explore::{
    Event, World,
    failure::Failure,
    recorded::Recorded,
    subject::{Subject, Told},
};

/// The program that this process would be, were it not exploring.
pub(crate) struct Forked {
    /// What is known of all executions; a child goes on with what it finds there.
    world: Arc<World>,
    /// Whether what the program prints is shown.
    pub(in crate::explore) is_shown: Cell<bool>,
    /// Where it goes if not.
    printed: Option<Arc<File>>,
}

/// Of what a program prints, no more than this is looked at.
const MOST_PRINTED: usize = 1 << 16;

/// What `fork` is in a child: it is not to come back to who explores.
struct IsChild;

impl Forked {
    pub(in crate::explore) fn new(recorded: Option<Recorded>) -> Forked {
        let world = World::new();
        world.state().recorded = recorded.map(Arc::new);
        world.state().families.keep_log();
        world.state().names.keep_log();
        Forked {
            world,
            is_shown: Cell::new(false),
            printed: output().ok().map(Arc::new),
        }
    }

    /// Makes a child. In the child, the program goes on where this process was started to explore: by unwinding.
    fn fork(&self) -> io::Result<Child> {
        let (ours, theirs) = UnixStream::pair()?;
        // SAFETY: This process has no other threads: it has not come to its `main`.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(ours);
                if !self.is_shown.get() {
                    print_to(self.printed.as_deref());
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

/// A file without a name, to which is always appended.
fn output() -> io::Result<File> {
    let file = rustix::fs::memfd_create("reenact-output", rustix::fs::MemfdFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::APPEND)?;
    Ok(File::from(file))
}

/// What the calling process prints goes there, if anywhere; what it complains of goes nowhere.
fn print_to(file: Option<&File>) {
    if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
        // SAFETY: Descriptors of this process.
        unsafe {
            libc::dup2(file.unwrap_or(&nowhere).as_raw_fd(), 1);
            libc::dup2(nowhere.as_raw_fd(), 2);
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
    printed: Option<Arc<File>>,
}

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
                for met in &snapshot.met {
                    state.names.meet_again(met);
                }
                state.releases_are_steps |= snapshot.was_too_coarse;
                state.was_too_coarse |= snapshot.was_too_coarse;
                self.has_ended = snapshot.pending.is_empty();
                self.snapshot = snapshot;
                Some(message)
            }
            Err(_) => {
                self.has_ended = true;
                self.snapshot = Snapshot::default();
                None
            }
        }
    }

    fn status(&self) -> Option<libc::c_int> {
        let mut child = self.child.borrow_mut();
        Some(child.as_mut()?.wait())
    }
}

impl Runs for Forked {
    type Event = Event;
    type Run = ForkedRun;

    fn start(&self) -> ForkedRun {
        self.world.state().names.begin();
        let mut run = ForkedRun {
            world: Arc::clone(&self.world),
            child: RefCell::new(None),
            snapshot: Snapshot::default(),
            failure: None,
            has_ended: false,
            printed: self.printed.clone().filter(|_| !self.is_shown.get()),
        };
        if let Some(printed) = &self.printed {
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

    fn was_too_coarse(&self) -> bool {
        self.world.was_too_coarse()
    }
}

impl Run for ForkedRun {
    type Event = Event;

    fn activities(&self) -> u32 {
        self.snapshot.pending.len() as u32
    }

    fn pending(&self, activity: Activity) -> Option<Event> {
        let pending = self.snapshot.pending.get(activity.0 as usize)?;
        pending.as_ref().map(|(event, ..)| event.clone())
    }

    fn is_enabled(&self, activity: Activity) -> bool {
        let pending = self.snapshot.pending.get(activity.0 as usize);
        matches!(pending, Some(Some((_, true, _))))
    }

    fn choices(&self, activity: Activity) -> u32 {
        match self.snapshot.pending.get(activity.0 as usize) {
            Some(Some((_, _, choices))) => *choices,
            _ => 1,
        }
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
        if !self.has_ended {
            return match self.snapshot.is_deadlock {
                true => Verdict::Deadlock,
                false => Verdict::Finished,
            };
        }
        match self.status() {
            Some(0) => Verdict::Finished,
            _ => Verdict::Failed,
        }
    }
}

impl Told for ForkedRun {
    fn tell(&self, event: &Event) -> (String, String) {
        (event.op.name().to_owned(), event.site.to_string())
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
        let mut outcome = match failures.is_empty() {
            true => "ended as it should".to_owned(),
            false => failures.join("\n"),
        };
        let mut printed = vec![0; MOST_PRINTED];
        let length = match &self.printed {
            Some(file) => file.read_at(&mut printed, 0).unwrap_or(0),
            None => 0,
        };
        if length > 0 {
            outcome += "\nprinted:";
            for line in String::from_utf8_lossy(&printed[..length]).lines() {
                outcome += &format!("\n  {line}");
            }
        }
        outcome
    }
}
