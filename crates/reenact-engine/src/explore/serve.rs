//! Answering questions about single universes: what a debugger needs that goes where it likes.
//!
//! Who asks listens on a socket. A question is a line, an answer some lines and `end`; what a line is about comes first, what there
//! is to say of it after a tab each, and what would break a line is written as `\n`, `\t` and `\\`.
//!
//! ```text
//! state 0:0 1:0                after these steps, each an activity and one of the ways it can go
//!
//! fingerprint 9f0c…            of what happened so far: the same one, the same universe
//! activity 1 main.0 alice      number, place in the family tree, name if it has one
//! does 1 lock 1 1 bank.rs 12 9 take:3     the operation, whether it can be done, in how many ways, where, how it meets what
//! waits 0 the end of main.0    for what is no operation
//! ended 2
//! panicked 2 at bank.rs:14:5: no money
//! holds 3 1 bank.rs:12:9       a thing, who has it, since where
//! looks 3 1                    …who shares it
//! awaits 4 2                   …who waits for its signal
//! watched balance 100
//! printed some line
//! failure main.1 panicked …
//! deadlock                     those who wait will for ever
//! exit status 0                it has ended
//! end
//! ```
//!
//! Instead of all that: `error` and why. The execution of the last question is kept: one that goes on from there costs a step,
//! any other an execution from the start.

mod answer;

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, BufRead, BufReader, Read},
    os::unix::net::UnixStream,
    path::Path,
};

use reenact_multiverse::{
    Activity,
    explore::{Fingerprint, Fingerprinter, Links, Moment, Run, Runs, Step},
};

use self::answer::{Answer, touches};
use super::{
    event::Event,
    failure::Failure,
    retrace::{Path as Recording, retrace},
    subject::Subject,
    view::{Stands, View},
    whole::{Forked, ForkedRun},
};
use crate::Access;

/// A question is not longer than this.
const LONGEST: u64 = 16 << 20;
/// So many steps are tried to find out what kind of program it is.
const TRIED: usize = 10_000;
/// So many universes are remembered.
const REMEMBERED: usize = 1 << 20;

/// Answers until nobody asks any more.
///
/// If there is a recorded run, it is said first where that leads: `path 0:0 1:0`, or `divergence` and why it leads nowhere.
pub(super) fn serve(
    forked: Forked,
    path: &Path,
    recording: Option<(&Recording, Option<i32>)>,
) -> io::Result<()> {
    // SAFETY: It asks for a signal, should who asks be gone.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let mut server = Server {
        forked,
        known: HashMap::new(),
        current: None,
    };
    // Before the program runs for the first time: who asks wants to know if that takes for ever.
    let stream = UnixStream::connect(path)?;
    server.try_out();
    let mut questions = BufReader::new(stream.try_clone()?);
    let mut answers = stream;
    let mut hello = Answer::default();
    if let Some((recorded, exit)) = recording {
        let retraced = retrace(&server.forked, recorded, TRIED, exit);
        match retraced.divergence {
            Some(divergence) => hello.line("divergence", &[&divergence.to_string()]),
            None => {
                let steps = retraced.steps.iter();
                let steps = steps.map(|step| format!("{}:{}", step.activity.0, step.choice));
                hello.line("path", &[&steps.collect::<Vec<_>>().join(" ")]);
            }
        }
    }
    hello.line(
        "releases",
        &[&u8::from(server.forked.are_releases_steps()).to_string()],
    );
    hello.send(&mut answers)?;
    loop {
        let mut question = Vec::new();
        let mut limited = (&mut questions).take(LONGEST);
        if limited.read_until(b'\n', &mut question)? == 0 {
            return Ok(());
        }
        let question = String::from_utf8_lossy(&question);
        let answer = server.answer(question.trim_end());
        answer
            .unwrap_or_else(|error| Answer::of_error(&error))
            .send(&mut answers)?;
    }
}

struct Server {
    forked: Forked,
    /// What everybody was about to do in each universe: it has to be the same each time.
    known: HashMap<Fingerprint, u64>,
    /// The execution of the last question.
    current: Option<Current>,
}

/// An execution, and how it came to where it is.
struct Current {
    steps: Vec<Step>,
    run: ForkedRun,
    fingerprinter: Fingerprinter,
}

impl Server {
    /// Runs the program once: whether anybody tries to take a lock makes a difference to all executions.
    fn try_out(&mut self) {
        // Somebody may want to stop there.
        self.forked.let_stops_be_steps();
        let mut run = self.forked.start();
        let mut fingerprinter = Fingerprinter::default();
        for _ in 0..TRIED {
            let mut all = (0..run.activities()).map(Activity);
            let Some(next) = all.find(|&activity| run.is_enabled(activity)) else {
                break;
            };
            let mut links = Links::default();
            let event = run.step_at(next.into(), fingerprinter.next(), &mut links);
            fingerprinter.push(next.into(), &identity(&event), &links);
            if matches!(event.touch.access, Access::TryTake | Access::TryLook) {
                self.forked.let_releases_be_steps();
            }
        }
        self.forked.was_too_coarse();
    }

    fn answer(&mut self, question: &str) -> Result<Answer, String> {
        let mut words = question.split(' ');
        if words.next() != Some("state") {
            return Err(format!("`{question}` is nothing that can be asked"));
        }
        let steps = words
            .map(|word| step(word).ok_or_else(|| format!("`{word}` is no step")))
            .collect::<Result<Vec<Step>, String>>()?;
        let current = self.go_to(&steps)?;
        // One that cannot be looked at is not asked again.
        let answer = self.describe(&current)?;
        // Nor can one that has ended.
        self.current = Some(current).filter(|current| !is_over(&current.run));
        Ok(answer)
    }

    /// Lets the program take these steps.
    fn go_to(&mut self, steps: &[Step]) -> Result<Current, String> {
        let mut current = match self.current.take() {
            Some(current) if steps.starts_with(&current.steps) => current,
            other => {
                // There is one at a time.
                drop(other);
                let current = self.start()?;
                self.check(&current)?;
                current
            }
        };
        for (number, &step) in steps.iter().enumerate().skip(current.steps.len()) {
            let is_possible = current.run.is_enabled(step.activity)
                && step.choice < current.run.choices(step.activity);
            if !is_possible {
                return Err(self.impossible(&current.run, number, step));
            }
            let mut links = Links::default();
            let event = current
                .run
                .step_at(step, current.fingerprinter.next(), &mut links);
            if current.run.is_dead() {
                // It could not say what this step comes after: perhaps after all others.
                (0..number).for_each(|before| links.after(Moment(before as u32)));
            }
            current.fingerprinter.push(step, &identity(&event), &links);
            current.steps.push(step);
            if self.forked.was_too_coarse() {
                return Err(
                    "the program tries to take a lock, which it was not known to do: giving a lock back has to be a step, \
                     from the start"
                        .to_owned(),
                );
            }
            self.check(&current)?;
        }
        Ok(current)
    }

    /// Whether everybody is about to do what they were the last time in the same universe.
    fn check(&mut self, current: &Current) -> Result<(), String> {
        let run = &current.run;
        let mut hasher = DefaultHasher::new();
        for activity in (0..run.activities()).map(Activity) {
            let pending = run.pending(activity).as_ref().map(identity);
            let choices = run.choices(activity);
            (pending, run.is_enabled(activity), choices).hash(&mut hasher);
        }
        let pending = hasher.finish();
        let fingerprint = current.fingerprinter.fingerprint();
        if self
            .known
            .get(&fingerprint)
            .is_some_and(|known| *known != pending)
        {
            return Err(
                "the program does not do the same twice: after the same steps, somebody is about to do something else than \
                 before (an address, or something from outside, makes a difference)"
                    .to_owned(),
            );
        }
        if self.known.len() < REMEMBERED {
            self.known.insert(fingerprint, pending);
        }
        Ok(())
    }

    fn start(&self) -> Result<Current, String> {
        let run = self.forked.start();
        match run.failure() {
            Some(failure) => Err(failure.to_string()),
            None => Ok(Current {
                steps: Vec::new(),
                run,
                fingerprinter: Fingerprinter::default(),
            }),
        }
    }

    fn impossible(&self, run: &ForkedRun, number: usize, step: Step) -> String {
        let who = self.forked.name(step.activity);
        let instead = match run.pending(step.activity) {
            Some(event) if run.is_enabled(step.activity) => format!("there is only {event:?}"),
            Some(event) => format!("it waits for {event:?}"),
            None => "it has nothing to do".to_owned(),
        };
        format!(
            "step {} of {}, of {who}, cannot be taken: {instead}. Does the program do the same twice?",
            number + 1,
            step.choice
        )
    }

    fn describe(&self, current: &Current) -> Result<Answer, String> {
        let run = &current.run;
        let view = run.view().map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                "a value that is watched cannot be shown: its text does not come, as if it waited for something".to_owned()
            }
            _ => format!("what there is to see cannot be seen: {error}"),
        })?;
        // Others may go on when the first activity has ended; once nobody does, it is let go, and has printed all.
        let end = match is_over(run) {
            true => run.end(),
            false => None,
        };
        let mut answer = Answer::default();
        let fingerprint: Fingerprint = current.fingerprinter.fingerprint();
        answer.line("fingerprint", &[&fingerprint.to_string()]);
        self.describe_activities(&mut answer, run, &view);
        for held in &view.things {
            let thing = held.thing.to_string();
            if let Some((who, since)) = &held.holder {
                answer.line("holds", &[&thing, &who.to_string(), since]);
            }
            for who in &held.lookers {
                answer.line("looks", &[&thing, &who.to_string()]);
            }
            for who in &held.waiters {
                answer.line("awaits", &[&thing, &who.to_string()]);
            }
        }
        for (name, value) in &view.watched {
            answer.line("watched", &[name, value]);
        }
        for line in run.printed().lines() {
            answer.line("printed", &[line]);
        }
        describe_failures(&mut answer, &view.failures);
        if let Some(status) = end {
            let (how, number) = match libc::WIFSIGNALED(status) {
                true => ("signal", libc::WTERMSIG(status)),
                false => ("status", libc::WEXITSTATUS(status)),
            };
            answer.line("exit", &[how, &number.to_string()]);
        }
        Ok(answer)
    }

    fn describe_activities(&self, answer: &mut Answer, run: &ForkedRun, view: &View) {
        for (number, acting) in (0..).zip(&view.activities) {
            let written = number.to_string();
            if acting.stands != Stands::Unborn {
                let place = self.forked.name(Activity(number));
                answer.line("activity", &[&written, &place, &acting.name]);
            }
            match &acting.stands {
                Stands::Waits(what) => answer.line("waits", &[&written, what]),
                Stands::Ended => answer.line("ended", &[&written]),
                Stands::Unborn | Stands::Pending => {}
            }
            if let Some(panic) = &acting.panic {
                let place = panic.place.as_deref().unwrap_or("an unknown place");
                answer.line(
                    "panicked",
                    &[&written, &format!("at {place}: {}", panic.message)],
                );
            }
            if let Some(event) = run.pending(Activity(number)) {
                let activity = Activity(number);
                answer.line(
                    "does",
                    &[
                        &written,
                        event.op.name(),
                        &u8::from(run.is_enabled(activity)).to_string(),
                        &run.choices(activity).to_string(),
                        event.site.file(),
                        &event.site.line().to_string(),
                        &event.site.column().to_string(),
                        &touches(&event),
                    ],
                );
            }
        }
    }
}

/// Whether nobody can go on.
fn is_over(run: &ForkedRun) -> bool {
    let mut all = (0..run.activities()).map(Activity);
    !all.any(|activity| run.is_enabled(activity))
}

/// What an event is known by: not what it meets, of which the name may be learned only later.
fn identity(event: &Event) -> (u8, u32, u32) {
    (event.op.code(), event.site.line(), event.site.column())
}

fn step(word: &str) -> Option<Step> {
    let (activity, choice) = word.split_once(':')?;
    Some(Step {
        activity: Activity(activity.parse().ok()?),
        choice: choice.parse().ok()?,
    })
}

fn describe_failures(answer: &mut Answer, failures: &[Failure]) {
    for failure in failures {
        match failure {
            Failure::Deadlock(_) => answer.line("deadlock", &[]),
            other => answer.line("failure", &[&other.to_string()]),
        }
    }
}
