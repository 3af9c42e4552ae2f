//! Answers questions about single universes, for a debugger that moves freely between them.
//!
//! The client listens on a socket. A question is one line; an answer is several lines and `end`. A line begins with the
//! name of its subject, followed by its values, each after a tab. Line breaks, tabs and backslashes are written as
//! `\n`, `\t` and `\\`.
//!
//! ```text
//! state 0:0 +own 1:0           after these steps, each an activity and one of the ways it can go; from `+own` on, what concerns
//!                              nobody else is a step, too, from `+releases` on, giving back a lock
//!
//! fingerprint 9f0c…            of what happened so far: the same one, the same universe
//! activity 1 main.0 alice      number, place in the family tree, name if it has one
//! does 1 lock lock mutex 1 1 bank.rs 12 9 take:3    the operation, its kind, what it is about, whether it can be done, in how
//!                              many ways, where, how it meets what
//! does 0 join join activity 0 1 bank.rs 20 9 own 1 main.0   …who is joined, or created
//! about 1 double(12) 2         …what the message is that it sends, and to whom
//! about 2 double(12) 1 bank.rs 12 9       …that it handles, who has sent it, and where
//! inbox 2 double(12) 1 bank.rs 12 9       a message that it has not handled: the same
//! turn 2 double(12) 1 bank.rs 12 9        the one that it handles now
//! state 2 Math { result: 24 }  what could be seen of it when it was in no turn
//! object 3 mutex bank.rs 5 1   an object: what it is, where it was made, which of those made there
//! waits 0 the end of main.0    for what is no operation
//! ended 2
//! panicked 2 at bank.rs:14:5: no money
//! holds 3 1 bank.rs:12:9       an object, who has it, since where
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
//! If the question cannot be answered, the answer is `error` and the reason. The execution of the last question is
//! kept: a question that continues from there costs a step, any other one an execution from the start.

mod answer;

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, BufRead, BufReader, Read},
    os::unix::net::UnixStream,
    path::Path,
};

use reenact_explore::{Activity, Fingerprint, Fingerprinter, Links, Moment, Run, Runs, Step};

use self::answer::{Answer, fields_of, message, touches};
use super::{
    event::{Event, NOTHING},
    failure::Failure,
    objects::Objects,
    retrace::{Limits, Path as Recording, retrace},
    subject::{Granularity, Subject},
    view::{Status, View},
    whole::{Forked, ForkedRun},
};
use crate::Access;

/// Maximum length of a question.
const LONGEST: u64 = 16 << 20;
/// Maximum number of steps of the first execution, which finds out what kind of program it is.
const TRIED: usize = 10_000;
/// Maximum number of consecutive steps of one activity in it, if others could continue.
const PATIENCE: usize = 100;
/// Maximum number of universes that are remembered.
const REMEMBERED: usize = 1 << 20;

/// Answers questions until the client disconnects.
///
/// If there is a recorded run, first sends the path to its end, `path 0:0 1:0`, or `divergence` and the reason why
/// there is none.
pub(super) fn serve(
    forked: Forked,
    path: &Path,
    recording: Option<(&Recording, Option<i32>)>,
) -> io::Result<()> {
    // SAFETY: `prctl` only requests a signal for when the parent process ends.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let mut server = Server {
        forked,
        known: HashMap::new(),
        objects: Objects::default(),
        current: None,
    };
    // Before the program runs for the first time, so that the client notices if that does not end.
    let stream = UnixStream::connect(path)?;
    server.try_out();
    let mut questions = BufReader::new(stream.try_clone()?);
    let mut answers = stream;
    let mut hello = Answer::default();
    if let Some((recorded, exit)) = recording {
        let limits = Limits {
            steps: TRIED,
            until: None,
        };
        let retraced = retrace(&server.forked, recorded, limits, exit).map_err(io::Error::other)?;
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
    /// A hash of all pending operations in each universe: it has to be the same each time.
    known: HashMap<(Fingerprint, Granularity), u64>,
    objects: Objects,
    /// The execution of the last question.
    current: Option<Current>,
}

/// An execution, and the path to its current universe.
struct Current {
    words: Vec<Word>,
    granularity: Granularity,
    run: ForkedRun,
    fingerprinter: Fingerprinter,
}

/// An element of a path to a universe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    Step(Step),
    /// Makes steps finer from there on.
    Finer(Granularity),
}

impl Server {
    /// Runs the program once: whether any activity uses a try-lock affects all executions.
    fn try_out(&mut self) {
        // A debugger may stop there, and shows messages.
        self.forked.let_stops_be_steps();
        self.forked.want_labels(true);
        let mut run = self.forked.start();
        let mut fingerprinter = Fingerprinter::default();
        // The last activity, and the number of its consecutive steps: it may be waiting for another one by spinning.
        let mut last = (Activity(0), 0);
        for _ in 0..TRIED {
            let enabled = |activity: &Activity| run.is_enabled(*activity);
            let mut all = (0..run.activities()).map(Activity).filter(enabled);
            let Some(first) = all.next() else {
                break;
            };
            let next = match last {
                (same, PATIENCE..) if same == first => all.next().unwrap_or(first),
                _ => first,
            };
            last = match last {
                (same, count) if same == next => (same, count + 1),
                _ => (next, 1),
            };
            let mut links = Links::default();
            let event = run.step_at(next.into(), fingerprinter.next(), &mut links);
            fingerprinter.push(next.into(), &identity(&event), &links);
            self.objects.learn(&event);
            if matches!(event.touch.access, Access::TryTake | Access::TryLook) {
                self.forked.let_releases_be_steps();
            }
        }
        self.forked.needs_finer_steps();
        // The objects of a whole execution are known now.
        self.forked
            .with_names(|objects, families| self.objects.name_all(objects, families));
    }

    fn answer(&mut self, question: &str) -> Result<Answer, String> {
        let mut words = question.split(' ');
        if words.next() != Some("state") {
            return Err(format!("`{question}` is nothing that can be asked"));
        }
        let words = words
            .map(|word| parse(word).ok_or_else(|| format!("`{word}` is no step")))
            .collect::<Result<Vec<Word>, String>>()?;
        let current = self.go_to(&words)?;
        // An execution whose view cannot be read is not kept.
        let answer = self.describe(&current)?;
        // Nor is one that has ended.
        self.current = Some(current).filter(|current| !is_over(&current.run));
        Ok(answer)
    }

    /// Lets the program take these steps.
    fn go_to(&mut self, words: &[Word]) -> Result<Current, String> {
        let mut current = match self.current.take() {
            // The granularity at the start cannot be changed later.
            Some(current)
                if words.starts_with(&current.words)
                    && from_the_beginning(words) == from_the_beginning(&current.words) =>
            {
                current
            }
            other => {
                // There is only one execution at a time.
                drop(other);
                let current = self.start(words)?;
                self.check(&current)?;
                current
            }
        };
        for &word in &words[current.words.len()..] {
            current.words.push(word);
            let step = match word {
                Word::Step(step) => step,
                Word::Finer(granularity) => {
                    current.granularity = current.granularity.or(granularity);
                    current.run.refine(granularity);
                    continue;
                }
            };
            let number = current.fingerprinter.next().0 as usize;
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
                // It could not report what this step comes after: perhaps after all others.
                (0..number).for_each(|before| links.after(Moment(before as u32)));
            }
            current.fingerprinter.push(step, &identity(&event), &links);
            if self.forked.needs_finer_steps() {
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

    /// Checks that all pending operations are the same as the last time in the same universe.
    fn check(&mut self, current: &Current) -> Result<(), String> {
        let run = &current.run;
        let mut hasher = DefaultHasher::new();
        for activity in (0..run.activities()).map(Activity) {
            let pending = run.pending(activity).as_ref().map(identity);
            let choices = run.choices(activity);
            (pending, run.is_enabled(activity), choices).hash(&mut hasher);
        }
        let pending = hasher.finish();
        let universe = (current.fingerprinter.fingerprint(), current.granularity);
        if self
            .known
            .get(&universe)
            .is_some_and(|known| *known != pending)
        {
            return Err(
                "the program does not do the same twice: after the same steps, somebody is about to do something else than \
                 before (an address, or something from outside, makes a difference)"
                    .to_owned(),
            );
        }
        if self.known.len() < REMEMBERED {
            self.known.insert(universe, pending);
        }
        Ok(())
    }

    /// Starts the program, with the granularity that the path begins with.
    fn start(&self, words: &[Word]) -> Result<Current, String> {
        let first = from_the_beginning(words).to_vec();
        let granularity = first
            .iter()
            .fold(Granularity::default(), |all, word| match word {
                Word::Finer(finer) => all.or(*finer),
                Word::Step(_) => all,
            });
        let run = self.forked.start_with(granularity);
        match run.failure() {
            Some(failure) => Err(failure.to_string()),
            None => Ok(Current {
                words: first,
                granularity,
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

    fn describe(&mut self, current: &Current) -> Result<Answer, String> {
        let all = (0..current.run.activities()).map(Activity);
        let pending: Vec<Event> = all.filter_map(|who| current.run.pending(who)).collect();
        pending.iter().for_each(|event| self.objects.learn(event));
        self.forked
            .with_names(|objects, families| self.objects.name_all(objects, families));
        let run = &current.run;
        let view = run.view().map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                "a value that is watched cannot be shown: its text does not come, as if it waited for something".to_owned()
            }
            _ => format!("what there is to see cannot be seen: {error}"),
        })?;
        // Other activities may continue when the main one has ended. Once none can, the process is allowed to exit, and
        // its output is complete.
        let end = match is_over(run) {
            true => run.end(),
            false => None,
        };
        let mut answer = Answer::default();
        let fingerprint: Fingerprint = current.fingerprinter.fingerprint();
        answer.line("fingerprint", &[&fingerprint.to_string()]);
        self.describe_activities(&mut answer, run, &view);
        self.describe_objects(&mut answer, &pending, &view);
        for held in &view.objects {
            let object = held.object.to_string();
            if let Some((who, since)) = &held.holder {
                answer.line("holds", &[&object, &who.to_string(), since]);
            }
            for who in &held.sharers {
                answer.line("looks", &[&object, &who.to_string()]);
            }
            for who in &held.waiters {
                answer.line("awaits", &[&object, &who.to_string()]);
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

    /// Writes the names of the objects that are held or that pending operations access.
    fn describe_objects(&self, answer: &mut Answer, pending: &[Event], view: &View) {
        let touched = pending.iter().flat_map(Event::touches);
        let touched = touched
            .map(|touch| touch.object)
            .filter(|&object| object != NOTHING);
        let mut all: Vec<u32> = touched
            .chain(view.objects.iter().map(|held| held.object))
            .collect();
        all.sort_unstable();
        all.dedup();
        for object in all {
            let name = self
                .forked
                .with_names(|objects, _| self.objects.name(object, objects));
            if let Some(name) = name {
                let (line, ordinal) = (name.line.to_string(), name.ordinal.to_string());
                let words = [
                    &object.to_string(),
                    &*name.noun,
                    &*name.file,
                    &line,
                    &ordinal,
                ];
                answer.line("object", &words);
            }
        }
    }

    fn describe_activities(&self, answer: &mut Answer, run: &ForkedRun, view: &View) {
        for (number, acting) in (0..).zip(&view.activities) {
            let written = number.to_string();
            if acting.status != Status::NotStarted {
                let place = self.forked.name(Activity(number));
                answer.line("activity", &[&written, &place, &acting.name]);
            }
            match &acting.status {
                Status::Waits(what) => answer.line("waits", &[&written, what]),
                Status::Ended => answer.line("ended", &[&written]),
                Status::NotStarted | Status::Pending => {}
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
                let (file, line, column) = fields_of(event.line());
                answer.line(
                    "does",
                    &[
                        &written,
                        event.op.name(),
                        event.kind().name(),
                        event.op.object(),
                        &u8::from(run.is_enabled(activity)).to_string(),
                        &run.choices(activity).to_string(),
                        file,
                        &line.to_string(),
                        &column.to_string(),
                        &touches(&event),
                        &acting
                            .with
                            .map_or_else(String::new, |with| with.to_string()),
                        &acting
                            .with
                            .map_or_else(String::new, |with| self.forked.name(Activity(with))),
                    ],
                );
                if let Some(about) = &event.about {
                    message(answer, "about", &written, about);
                }
            }
            for sent in &acting.inbox {
                message(answer, "inbox", &written, sent);
            }
            if let Some(turn) = &acting.turn {
                message(answer, "turn", &written, turn);
            }
            if let Some(shown) = &acting.shown {
                answer.line("state", &[&written, shown]);
            }
        }
    }
}

/// Returns whether no activity can continue.
fn is_over(run: &ForkedRun) -> bool {
    let mut all = (0..run.activities()).map(Activity);
    !all.any(|activity| run.is_enabled(activity))
}

/// Returns what identifies an event. The objects are not part of it, because their names may be learned only later.
fn identity(event: &Event) -> (u8, u32, u32) {
    (event.op.code(), event.site.line(), event.site.column())
}

/// Returns the elements before the first step.
fn from_the_beginning(words: &[Word]) -> &[Word] {
    let first = words.iter().position(|word| matches!(word, Word::Step(_)));
    &words[..first.unwrap_or(words.len())]
}

fn parse(word: &str) -> Option<Word> {
    match word {
        "+own" => Some(Word::Finer(Granularity {
            own: true,
            ..Granularity::default()
        })),
        "+releases" => Some(Word::Finer(Granularity {
            releases: true,
            ..Granularity::default()
        })),
        word => step(word).map(Word::Step),
    }
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
