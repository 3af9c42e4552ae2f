//! A debugging session, over all universes at once: what a terminal, a page or an editor needs.
//!
//! A session holds the universes in which the program is at the moment. A command is given to one of them or to all, and
//! they run until each is paused, has ended, or a limit is reached; those that have become equal are one. How a universe
//! came about is kept as a path back to the start, through steps of the program and commands.

mod report;
mod walk;

pub use self::{
    report::{Choices, Event, Found, Group, How, Nearest, Numbers, Stop, Summary},
    walk::Limits,
};

use std::collections::HashSet;

use crate::{
    Activity, Breakpoint, Breakpoints, Cause, CommandError, Configuration, Debugger, Difference,
    Expression, Granularity, Mode, Observation, Rule, Semantics, StepKind, SyntaxError, What,
    catalogue,
    session::walk::{Walk, walk},
};

/// Who is to take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who<'a> {
    /// In each universe, the one that is stopped there; the first of several to whom the step applies.
    Stopped,
    /// This one.
    Activity(Activity),
    /// The one with this name.
    Name(&'a str),
}

/// Which universes a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Universes {
    /// The one with this number.
    One(usize),
    /// All of them.
    All,
}

/// Why something that was asked for cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The text makes no sense.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The step does not apply anywhere.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// There is no such step.
    #[error("there is no step {name}; there are {}", .steps.join(", "))]
    NoStep {
        /// What was asked for.
        name: String,
        /// What there is.
        steps: Vec<&'static str>,
    },
    /// The language has no such operations.
    #[error("no program in this language can stop at {name}; there are {}", .kinds.join(", "))]
    NoKind {
        /// What was asked for.
        name: &'static str,
        /// What there is.
        kinds: Vec<&'static str>,
    },
    /// The line has nothing to stop at.
    #[error("there is nothing to stop at in line {0}")]
    NoLine(u32),
    /// There is no such breakpoint.
    #[error("there is no breakpoint {0}")]
    NoBreakpoint(u32),
    /// There is no such universe.
    #[error("there is no universe {universe}, only 0 to {last}")]
    NoUniverse {
        /// What was asked for.
        universe: usize,
        /// The last of those that exist.
        last: usize,
    },
    /// There is no such activity.
    #[error("there is no {name} in any of these universes; there are {}", .activities.join(", "))]
    NoActivity {
        /// What was asked for.
        name: String,
        /// Those in the selected universe.
        activities: Vec<String>,
    },
    /// Nobody waits for a command.
    #[error("no universe is paused")]
    NothingPaused,
    /// Nothing was done so far.
    #[error("there is nothing to undo")]
    NothingToUndo,
}

/// A program being debugged.
pub struct Session<S: Semantics> {
    language: S,
    breakpoints: Breakpoints,
    granularity: Granularity,
    limits: Limits,
    is_interrupted: fn() -> bool,
    nodes: Vec<Node<S>>,
    /// The universes of the moment, by number.
    current: Vec<usize>,
    selected: usize,
    states: usize,
    past: Vec<Past>,
}

/// A configuration on the way to a universe.
struct Node<S: Semantics> {
    state: Configuration<S::State>,
    from: Option<(usize, Link<S::Step>)>,
}

enum Link<T> {
    Rule(Rule<T>),
    /// What the person did.
    Asked(String),
}

/// What a session goes back to.
struct Past {
    current: Vec<usize>,
    selected: usize,
    states: usize,
    nodes: usize,
}

impl<S: Semantics> Session<S> {
    /// A session at the beginning of a program.
    pub fn new(language: S, limits: Limits) -> Self {
        let mut session = Self {
            language,
            breakpoints: Breakpoints::default(),
            granularity: Granularity::Macro,
            limits,
            is_interrupted: || false,
            nodes: Vec::new(),
            current: Vec::new(),
            selected: 0,
            states: 0,
            past: Vec::new(),
        };
        session.rewind();
        session
    }

    /// The same session, in which the debugger takes steps of this size.
    pub fn with_granularity(mut self, granularity: Granularity) -> Self {
        self.granularity = granularity;
        self
    }

    /// What is debugged.
    pub fn language(&self) -> &S {
        &self.language
    }

    /// Changes when to stop looking.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Asks now and then whether to stop looking, as at a limit.
    pub fn interrupt_when(&mut self, is_interrupted: fn() -> bool) {
        self.is_interrupted = is_interrupted;
    }

    /// Runs the program from its beginning. Breakpoints stay.
    pub fn start(&mut self) -> Summary {
        self.past.clear();
        self.rewind();
        self.run(Universes::All);
        self.summary()
    }

    fn rewind(&mut self) {
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.granularity);
        let states = self.language.initial().into_iter();
        self.nodes = states
            .map(|state| Node {
                state: debugger.enter(state),
                from: None,
            })
            .collect();
        self.current = (0..self.nodes.len()).collect();
        self.selected = 0;
        self.states = 0;
    }

    /// The breakpoints, by number.
    pub fn breakpoints(&self) -> &Breakpoints {
        &self.breakpoints
    }

    /// Sets a breakpoint in all universes, see [`Breakpoint`]. Returns its number.
    pub fn add_breakpoint(&mut self, text: &str) -> Result<u32, SessionError> {
        let breakpoint = Breakpoint::parse(text)?;
        let kinds = self.language.kinds();
        let possible = |operations: &[_]| operations.iter().any(|kind| kinds.contains(kind));
        if let What::Operation(pattern) = &breakpoint.what
            && let crate::Place::Kind(kind) = pattern.place
            && !possible(kind.operations)
        {
            let all = catalogue::breakpoints(&self.language);
            return Err(SessionError::NoKind {
                name: kind.name,
                kinds: all.map(|kind| kind.name).collect(),
            });
        }
        if let Some(line) = breakpoint.stops_at() {
            let all = self.breakpoints.iter();
            let mut lines: Vec<_> = all.filter_map(|(_, one)| one.stops_at()).collect();
            lines.push(line);
            if self.language.stop_at(&lines).contains(&line) {
                return Err(SessionError::NoLine(line));
            }
        }
        let number = self.breakpoints.add(breakpoint);
        self.refit(&format!("break {text}"));
        Ok(number)
    }

    /// Removes a breakpoint from all universes.
    pub fn remove_breakpoint(&mut self, number: u32) -> Result<Breakpoint, SessionError> {
        let removed = self
            .breakpoints
            .remove(number)
            .ok_or(SessionError::NoBreakpoint(number))?;
        self.refit(&format!("remove breakpoint {number}"));
        Ok(removed)
    }

    fn refit(&mut self, asked: &str) {
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.granularity);
        for at in &mut self.current {
            let state = debugger.refit(&self.nodes[*at].state);
            if state != self.nodes[*at].state {
                self.nodes.push(Node {
                    state,
                    from: Some((*at, Link::Asked(asked.to_owned()))),
                });
                *at = self.nodes.len() - 1;
            }
        }
    }

    /// Takes a step of the catalogue, `count` times, wherever it applies, and runs on.
    pub fn command(
        &mut self,
        name: &str,
        who: Who<'_>,
        count: u32,
        universes: Universes,
    ) -> Result<Summary, SessionError> {
        let step = catalogue::steps(&self.language).find(|step| step.name == name);
        let step = step.ok_or_else(|| SessionError::NoStep {
            name: name.to_owned(),
            steps: catalogue::steps(&self.language)
                .map(|step| step.name)
                .collect(),
        })?;
        let told = self.told(step, who, count, universes)?;
        self.past.push(Past {
            current: self.current.clone(),
            selected: self.selected,
            states: self.states,
            nodes: self.nodes.len(),
        });
        for (universe, state, asked) in told {
            let from = Some((self.current[universe], Link::Asked(asked)));
            self.nodes.push(Node { state, from });
            self.current[universe] = self.nodes.len() - 1;
        }
        self.run(universes);
        Ok(self.summary())
    }

    /// The universes that a command changes, and how.
    fn told(
        &self,
        step: &'static StepKind,
        who: Who<'_>,
        count: u32,
        universes: Universes,
    ) -> Result<Vec<(usize, Configuration<S::State>, String)>, SessionError> {
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.granularity);
        let mut told = Vec::new();
        let mut refused = None;
        let mut is_running = false;
        for universe in self.numbers(universes)? {
            let state = self.state(universe)?;
            // A universe that only the limits have stopped goes on by itself when everyone is to run.
            let goes_on = state.mode == Mode::Run && step.goal == catalogue::Goal::Resume;
            if self.is_over(state) || goes_on {
                is_running |= goes_on;
                continue;
            }
            let activity = match who {
                Who::Stopped => debugger.subject(state, step),
                Who::Activity(activity) => Some(activity),
                Who::Name(name) => self.named(state, name),
            };
            let Some(activity) = activity else { continue };
            match debugger.command(state, step, activity, count) {
                Ok(next) => {
                    let name = self.language.name(&state.base, activity);
                    let asked = match step.goal {
                        catalogue::Goal::Operation { .. } if count > 1 => {
                            format!("{} {count} of {name}", step.name)
                        }
                        catalogue::Goal::Operation { .. } => format!("{} of {name}", step.name),
                        _ => step.name.to_owned(),
                    };
                    told.push((universe, next, asked));
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        match (told.is_empty() && !is_running, refused, who) {
            (false, ..) => Ok(told),
            (true, Some(error), _) => Err(error.into()),
            (true, None, Who::Name(name)) => Err(SessionError::NoActivity {
                name: name.to_owned(),
                activities: self.names(self.selected)?,
            }),
            (true, None, _) => Err(SessionError::NothingPaused),
        }
    }

    /// Whether nothing can be asked of a universe any more.
    fn is_over(&self, state: &Configuration<S::State>) -> bool {
        match state.mode {
            Mode::Stopped => true,
            Mode::Run => self.language.steps(&state.base).is_empty(),
            Mode::Pause(_) => false,
        }
    }

    fn named(&self, state: &Configuration<S::State>, name: &str) -> Option<Activity> {
        let mut all = state.activities.iter().map(|(activity, _)| *activity);
        all.find(|activity| self.language.name(&state.base, *activity) == name)
    }

    /// The names of the activities in a universe.
    pub fn names(&self, universe: usize) -> Result<Vec<String>, SessionError> {
        let base = &self.state(universe)?.base;
        let all = self.language.activities(base).into_iter();
        Ok(all
            .map(|activity| self.language.name(base, activity))
            .collect())
    }

    /// Runs universes until each is paused, has ended or a limit is reached. Of equal ones, the first stays.
    fn run(&mut self, universes: Universes) {
        let chosen: Vec<usize> = match universes {
            Universes::One(universe) => vec![self.current[universe]],
            Universes::All => self.current.clone(),
        };
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.granularity);
        let starts = chosen.iter().map(|at| self.nodes[*at].state.clone());
        let found = walk(&debugger, starts, &self.limits, self.is_interrupted);
        self.states += found.looked_at;
        let reached = keep(&mut self.nodes, &chosen, found);
        let current = match universes {
            Universes::All => {
                self.selected = 0;
                reached
            }
            Universes::One(universe) => {
                self.selected = universe;
                let mut current = self.current.clone();
                current.splice(universe..=universe, reached);
                current
            }
        };
        let mut seen = HashSet::new();
        let is_first = |at: &usize| seen.insert(&self.nodes[*at].state);
        self.current = current.into_iter().filter(is_first).collect();
        self.selected = self.selected.min(self.current.len().saturating_sub(1));
    }

    /// Undoes the last command. Breakpoints stay as they are now.
    pub fn back(&mut self) -> Result<Summary, SessionError> {
        let past = self.past.pop().ok_or(SessionError::NothingToUndo)?;
        self.nodes.truncate(past.nodes);
        self.current = past.current;
        self.selected = past.selected;
        self.states = past.states;
        self.refit("change breakpoints");
        Ok(self.summary())
    }

    /// The universes of the moment, by number.
    pub fn universes(&self) -> impl ExactSizeIterator<Item = &Configuration<S::State>> {
        self.current.iter().map(|at| &self.nodes[*at].state)
    }

    /// The one that a person looks at.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Looks at another one.
    pub fn select(&mut self, universe: usize) -> Result<(), SessionError> {
        self.state(universe)?;
        self.selected = universe;
        Ok(())
    }

    /// One of the universes.
    pub fn state(&self, universe: usize) -> Result<&Configuration<S::State>, SessionError> {
        match self.current.get(universe) {
            Some(at) => Ok(&self.nodes[*at].state),
            None => Err(SessionError::NoUniverse {
                universe,
                last: self.current.len().saturating_sub(1),
            }),
        }
    }

    fn numbers(&self, universes: Universes) -> Result<Vec<usize>, SessionError> {
        match universes {
            Universes::All => Ok((0..self.current.len()).collect()),
            Universes::One(universe) => self.state(universe).map(|_| vec![universe]),
        }
    }

    /// What can be seen in a universe.
    pub fn observe(&self, universe: usize) -> Result<Observation, SessionError> {
        Ok(self.language.observe(&self.state(universe)?.base))
    }

    /// What differs between two universes.
    pub fn diff(&self, a: usize, b: usize) -> Result<Vec<Difference>, SessionError> {
        Ok(self.observe(a)?.diff(&self.observe(b)?))
    }

    /// How a universe came about.
    pub fn story(&self, universe: usize) -> Result<Vec<Event>, SessionError> {
        let last = &self.state(universe)?.base;
        let name = |activity| self.language.name(last, activity);
        let mut story = Vec::new();
        let mut at = self.current[universe];
        while let Some((from, link)) = &self.nodes[at].from {
            let before = &self.nodes[*from].state.base;
            match link {
                Link::Asked(what) => story.push(Event {
                    who: None,
                    what: what.clone(),
                    site: None,
                }),
                Link::Rule(rule) => {
                    if let Some(step) = rule.base() {
                        story.push(Event {
                            who: Some(name(self.language.activity(step))),
                            what: self.language.tell(before, step, &name),
                            site: self.language.operation(before, step).site,
                        });
                    }
                }
            }
            at = *from;
        }
        story.reverse();
        Ok(story)
    }

    /// How all universes stand.
    pub fn summary(&self) -> Summary {
        let mut groups: Vec<Group> = Vec::new();
        for (universe, state) in self.universes().enumerate() {
            let how = self.how(state);
            match groups.iter_mut().find(|group| group.how == how) {
                Some(group) => group.universes.push(universe),
                None => groups.push(Group {
                    how,
                    universes: vec![universe],
                }),
            }
        }
        Summary {
            groups,
            states: self.states,
        }
    }

    fn how(&self, state: &Configuration<S::State>) -> How {
        let cause = match state.mode {
            Mode::Stopped => return How::Stopped,
            Mode::Run if self.is_over(state) => {
                return How::Ended(self.language.ending(&state.base));
            }
            Mode::Run => return How::Running,
            Mode::Pause(cause) => cause,
        };
        let (by, breakpoint) = match cause {
            Cause::Breakpoint(number) => {
                let text = self.breakpoints.get(number).map(ToString::to_string);
                (text.unwrap_or("removed".to_owned()), Some(number))
            }
            Cause::Step(name) => (name.to_owned(), None),
            Cause::Command => ("pause".to_owned(), None),
        };
        let stopped = state.paused().map(|activity| Stop {
            who: self.language.name(&state.base, activity),
            next: self.next(state, activity),
        });
        How::Paused {
            by,
            breakpoint,
            stopped: stopped.collect(),
        }
    }

    fn next(&self, state: &Configuration<S::State>, activity: Activity) -> Vec<String> {
        let name = |activity| self.language.name(&state.base, activity);
        let steps = self.language.steps(&state.base);
        steps
            .iter()
            .filter(|step| self.language.activity(step) == activity)
            .map(|step| self.language.tell(&state.base, step, &name))
            .collect()
    }

    /// What can be done in a universe, activity by activity.
    pub fn applicable(&self, universe: usize) -> Result<Vec<Choices>, SessionError> {
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.granularity);
        let state = self.state(universe)?;
        let steps = self.language.steps(&state.base);
        let operations = steps
            .iter()
            .map(|step| self.language.operation(&state.base, step));
        let operations: Vec<_> = operations.collect();
        let all = self.language.activities(&state.base).into_iter();
        Ok(all
            .map(|activity| Choices {
                activity,
                who: self.language.name(&state.base, activity),
                is_paused: state.paused().any(|paused| paused == activity),
                next: self.next(state, activity),
                breakpoints: catalogue::breakpoints(&self.language)
                    .filter(|kind| {
                        operations.iter().any(|operation| {
                            operation.activity == activity
                                && kind.operations.contains(&operation.kind)
                        })
                    })
                    .collect(),
                steps: debugger.applicable(state, activity).collect(),
            })
            .collect())
    }

    /// The states that the program can reach from some universes in which a condition holds, whatever the breakpoints.
    pub fn find(
        &self,
        condition: &Expression,
        universes: Universes,
    ) -> Result<Found, SessionError> {
        let numbers = self.numbers(universes)?;
        let mut starts = Vec::new();
        for universe in &numbers {
            starts.push(self.language.unmark(&self.state(*universe)?.base));
        }
        let found = walk(
            &self.language,
            starts.iter().cloned(),
            &self.limits,
            self.is_interrupted,
        );
        let looked_at = &found.nodes[..found.looked_at];
        let holds = |at: &usize| condition.holds(&self.language.observe(&found.nodes[*at].0));
        let all: Vec<usize> = (0..looked_at.len()).filter(holds).collect();
        let nearest = all.first().map(|first| {
            let (mut at, mut story) = (*first, Vec::new());
            let last = &found.nodes[*first].0;
            let name = |activity| self.language.name(last, activity);
            while let Some((from, step)) = &found.nodes[at].1 {
                story.push(Event {
                    who: Some(name(self.language.activity(step))),
                    what: self.language.tell(&found.nodes[*from].0, step, &name),
                    site: self.language.operation(&found.nodes[*from].0, step).site,
                });
                at = *from;
            }
            story.reverse();
            let start = starts.iter().position(|start| *start == found.nodes[at].0);
            Nearest {
                universe: numbers[start.unwrap_or(0)],
                story,
                observation: self.language.observe(last),
            }
        });
        Ok(Found {
            states: all.len(),
            of: looked_at.len(),
            is_complete: found.is_complete(),
            nearest,
        })
    }
}

/// Keeps of what was found the ways to where it ended, and returns these ends.
fn keep<S: Semantics>(
    nodes: &mut Vec<Node<S>>,
    starts: &[usize],
    found: Walk<Debugger<'_, S>>,
) -> Vec<usize> {
    let mut reached = found.ends.clone();
    reached.extend(found.looked_at..found.nodes.len());
    let mut is_kept = vec![false; found.nodes.len()];
    for end in &reached {
        let mut at = Some(*end);
        while let Some(one) = at.filter(|one| !std::mem::replace(&mut is_kept[*one], true)) {
            at = found.nodes[one].1.as_ref().map(|(from, _)| *from);
        }
    }
    // Starts come in their order, each once.
    let mut starts = starts.iter().copied();
    let mut places = vec![usize::MAX; found.nodes.len()];
    for (at, (state, from)) in found.nodes.into_iter().enumerate() {
        if !is_kept[at] {
            continue;
        }
        places[at] = match from {
            None => starts
                .find(|start| nodes[*start].state == state)
                .expect("what was found without a way to it is a start"),
            Some((from, rule)) => {
                nodes.push(Node {
                    state,
                    from: Some((places[from], Link::Rule(rule))),
                });
                nodes.len() - 1
            }
        };
    }
    reached.into_iter().map(|at| places[at]).collect()
}
