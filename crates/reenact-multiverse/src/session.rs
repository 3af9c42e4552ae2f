//! A debugging session over all universes at once, for terminals, web pages and editors.
//!
//! A session holds the current universes of the program. A command is given to one of them or to all, and they run
//! until each is paused, has ended, or a limit is reached; equal universes are merged. The history of a universe is
//! stored as a path back to the start, through steps of the program and commands.

mod dot;
mod error;
mod inspect;
mod report;
mod walk;

pub use self::{
    error::SessionError,
    report::{
        Choices, FoundStates, Group, Nearest, Numbers, Overview, PathEvent, StoppedActivity,
        UniverseStatus,
    },
    walk::Limits,
};

use std::collections::HashSet;

use crate::{
    Activity, Breakpoint, Breakpoints, Configuration, Debugger, DebuggerMode, PatternKind, Rule,
    Semantics, StepKind, StepSize, catalogue,
    session::walk::{ReachedStates, walk},
};

/// Which activity takes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who<'a> {
    /// In each universe, the stopped activity; the first of several to which the step applies.
    Stopped,
    /// The activity with this number.
    Activity(Activity),
    /// The activity with this name.
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

/// A program being debugged.
pub struct Session<S: Semantics> {
    language: S,
    breakpoints: Breakpoints,
    step_size: StepSize,
    limits: Limits,
    is_interrupted: fn() -> bool,
    nodes: Vec<Node<S>>,
    /// The current universes, by number.
    current: Vec<usize>,
    selected: usize,
    states: usize,
    past: Vec<Past>,
}

/// A configuration on the path to a universe.
struct Node<S: Semantics> {
    state: Configuration<S::State>,
    from: Option<(usize, Transition<S::Step>)>,
}

enum Transition<T> {
    Rule(Rule<T>),
    /// A user command.
    Command(String),
}

/// A universe that a command changes.
struct Commanded<K> {
    universe: usize,
    state: Configuration<K>,
    /// The command, as shown in the story.
    asked: String,
}

/// A state of the session to go back to.
struct Past {
    current: Vec<usize>,
    selected: usize,
    states: usize,
    nodes: usize,
}

impl<S: Semantics> Session<S> {
    /// A session at the start of a program.
    pub fn new(language: S, limits: Limits) -> Self {
        let mut session = Self {
            language,
            breakpoints: Breakpoints::default(),
            step_size: StepSize::Macro,
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

    /// Sets the size of debugger steps.
    pub fn with_step_size(mut self, step_size: StepSize) -> Self {
        self.step_size = step_size;
        self
    }

    /// The program being debugged.
    pub fn language(&self) -> &S {
        &self.language
    }

    /// Sets the limits of a run.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Sets a function that is polled during a run; if it returns `true`, the run stops as at a limit.
    pub fn interrupt_when(&mut self, is_interrupted: fn() -> bool) {
        self.is_interrupted = is_interrupted;
    }

    /// Runs the program from the start. Breakpoints are kept.
    pub fn start(&mut self) -> Overview {
        self.past.clear();
        self.rewind();
        self.run(Universes::All);
        self.overview()
    }

    /// Follows the recorded [path](Semantics::path) of the program without stopping at breakpoints, and pauses at its
    /// end. Each of its steps can be [undone](Session::back).
    pub fn follow_path(&mut self) -> Overview {
        self.past.clear();
        self.rewind();
        let path = self.language.path();
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.step_size);
        for node in &mut self.nodes {
            node.state = debugger.enter_paused(node.state.base.clone());
        }
        for step in path {
            let Some(&at) = self.current.first() else {
                break;
            };
            let before = &self.nodes[at].state.base;
            let state = debugger.enter_paused(self.language.take(before, &step));
            self.past.push(Past {
                current: self.current.clone(),
                selected: self.selected,
                states: self.states,
                nodes: self.nodes.len(),
            });
            self.nodes.push(Node {
                state,
                from: Some((at, Transition::Rule(Rule::CelStepGlobal(step)))),
            });
            self.current = vec![self.nodes.len() - 1];
            self.states += 1;
        }
        self.overview()
    }

    fn rewind(&mut self) {
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.step_size);
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
        for pattern in breakpoint.patterns() {
            if let PatternKind::Kind(kind) = pattern.kind
                && !kind.operations.iter().any(|one| kinds.contains(one))
            {
                let all = catalogue::breakpoints(&self.language);
                return Err(SessionError::NoKind {
                    name: kind.name,
                    kinds: all.map(|kind| kind.name).collect(),
                });
            }
        }
        if breakpoint.lines().next().is_some() {
            let lines = self.lines().into_iter().chain(breakpoint.lines());
            let missing = self.language.stop_at(&lines.collect::<Vec<_>>());
            if let Some(line) = breakpoint.lines().find(|line| missing.contains(line)) {
                self.language.stop_at(&self.lines());
                return Err(SessionError::NoLine(line));
            }
        }
        for pattern in breakpoint.patterns() {
            if let PatternKind::Kind(kind) = pattern.kind {
                self.language.refine(kind.operations);
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
        if removed.lines().next().is_some() {
            self.language.stop_at(&self.lines());
        }
        self.refit(&format!("remove breakpoint {number}"));
        Ok(removed)
    }

    /// The lines at which there are breakpoints.
    fn lines(&self) -> Vec<u32> {
        let all = self.breakpoints.iter();
        all.flat_map(|(_, one)| one.lines()).collect()
    }

    fn refit(&mut self, asked: &str) {
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.step_size);
        for at in &mut self.current {
            let state = debugger.refit(&self.nodes[*at].state);
            if state != self.nodes[*at].state {
                self.nodes.push(Node {
                    state,
                    from: Some((*at, Transition::Command(asked.to_owned()))),
                });
                *at = self.nodes.len() - 1;
            }
        }
    }

    /// Takes a step of the catalogue, `count` times, in every chosen universe where it applies, and runs on.
    pub fn command(
        &mut self,
        name: &str,
        who: Who<'_>,
        count: u32,
        universes: Universes,
    ) -> Result<Overview, SessionError> {
        if let Some(step) = catalogue::step(name).filter(|step| step.is_about_calls())
            && !self.language.has_calls()
        {
            return Err(SessionError::NoCalls(step.name));
        }
        let step = catalogue::steps(&self.language).find(|step| step.name == name);
        let step = step.ok_or_else(|| SessionError::NoStep {
            name: name.to_owned(),
            steps: catalogue::steps(&self.language)
                .map(|step| step.name)
                .collect(),
        })?;
        if let catalogue::Goal::Operation { operations, .. } = step.goal {
            self.language.refine(operations);
        }
        let commanded = self.commanded(step, who, count, universes)?;
        self.past.push(Past {
            current: self.current.clone(),
            selected: self.selected,
            states: self.states,
            nodes: self.nodes.len(),
        });
        for one in commanded {
            let from = Some((self.current[one.universe], Transition::Command(one.asked)));
            self.nodes.push(Node {
                state: one.state,
                from,
            });
            self.current[one.universe] = self.nodes.len() - 1;
        }
        self.run(universes);
        Ok(self.overview())
    }

    /// The universes that a command changes, and how.
    fn commanded(
        &self,
        step: &'static StepKind,
        who: Who<'_>,
        count: u32,
        universes: Universes,
    ) -> Result<Vec<Commanded<S::State>>, SessionError> {
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.step_size);
        let mut commanded = Vec::new();
        let mut refused = None;
        let mut is_running = false;
        for universe in self.numbers(universes)? {
            let state = self.state(universe)?;
            if self.is_over(state) {
                continue;
            }
            // A universe that only a limit has stopped continues by itself on `resume`.
            if state.mode == DebuggerMode::Run && step.goal == catalogue::Goal::Resume {
                is_running = true;
                continue;
            }
            let activity = match who {
                Who::Stopped => debugger.who_takes(state, step),
                Who::Activity(activity) => Some(activity),
                Who::Name(name) => self.named(state, name),
            };
            let Some(activity) = activity else { continue };
            match debugger.command(state, step, activity, count) {
                Ok(state) => {
                    let name = self.language.name(&state.base, activity);
                    let asked = match step.goal {
                        catalogue::Goal::Operation { .. } if count > 1 => {
                            format!("{} {count} of {name}", step.name)
                        }
                        catalogue::Goal::Operation { .. } => format!("{} of {name}", step.name),
                        _ => step.name.to_owned(),
                    };
                    commanded.push(Commanded {
                        universe,
                        state,
                        asked,
                    });
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        match (commanded.is_empty() && !is_running, refused, who) {
            (false, ..) => Ok(commanded),
            (true, Some(error), _) => Err(error.into()),
            (true, None, Who::Name(name)) if !self.knows(name)? => Err(SessionError::NoActivity {
                name: name.to_owned(),
                activities: self.names(self.selected)?,
            }),
            (true, None, _) => Err(SessionError::NothingPaused),
        }
    }

    /// Returns whether an activity has this name in the selected universe.
    fn knows(&self, name: &str) -> Result<bool, SessionError> {
        Ok(self.names(self.selected)?.iter().any(|one| one == name))
    }

    /// Returns whether a universe accepts no more commands.
    fn is_over(&self, state: &Configuration<S::State>) -> bool {
        match state.mode {
            DebuggerMode::Stopped => true,
            DebuggerMode::Run => self.language.steps(&state.base).is_empty(),
            DebuggerMode::Pause(_) => false,
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

    /// Runs universes until each is paused, has ended or a limit is reached. Of equal ones, the first is kept.
    fn run(&mut self, universes: Universes) {
        let chosen: Vec<usize> = match universes {
            Universes::One(universe) => vec![self.current[universe]],
            Universes::All => self.current.clone(),
        };
        let debugger = Debugger::new(&self.language, &self.breakpoints, self.step_size);
        let starts = chosen
            .iter()
            .map(|at| self.nodes[*at].state.clone())
            .collect();
        let found = walk(&debugger, starts, &self.limits, self.is_interrupted);
        self.states += found.len() - found.left().len();
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
        // For an ended program only the final state matters, not pending commands.
        let (mut seen, mut ended) = (HashSet::new(), HashSet::new());
        let is_first = |at: &usize| {
            let state = &self.nodes[*at].state;
            match state.mode == DebuggerMode::Run && self.is_over(state) {
                true => ended.insert(self.language.unmark(&state.base)),
                false => seen.insert(state),
            }
        };
        self.current = current.into_iter().filter(is_first).collect();
        self.selected = self.selected.min(self.current.len().saturating_sub(1));
    }

    /// Undoes the last command. Breakpoints stay as they are now.
    pub fn back(&mut self) -> Result<Overview, SessionError> {
        let past = self.past.pop().ok_or(SessionError::NothingToUndo)?;
        self.nodes.truncate(past.nodes);
        self.current = past.current;
        self.selected = past.selected;
        self.states = past.states;
        self.refit("change breakpoints");
        Ok(self.overview())
    }

    /// The current universes, by number.
    pub fn universes(&self) -> impl ExactSizeIterator<Item = &Configuration<S::State>> {
        self.current.iter().map(|at| &self.nodes[*at].state)
    }

    /// The number of the selected universe.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Selects a universe.
    pub fn select(&mut self, universe: usize) -> Result<(), SessionError> {
        self.state(universe)?;
        self.selected = universe;
        Ok(())
    }

    /// The configuration of a universe.
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
}

/// Stores the paths to the final states that were found, and returns these states.
fn keep<S: Semantics>(
    nodes: &mut Vec<Node<S>>,
    starts: &[usize],
    found: ReachedStates<'_, Debugger<'_, S>>,
) -> Vec<usize> {
    let mut reached = found.ends();
    reached.extend(found.left());
    let mut is_kept = vec![false; found.len()];
    let mut origins: Vec<Option<(usize, Rule<S::Step>)>> = vec![None; found.len()];
    for end in &reached {
        let mut at = Some(*end);
        while let Some(one) = at.filter(|one| !std::mem::replace(&mut is_kept[*one], true)) {
            origins[one] = found.origin(one);
            at = origins[one].as_ref().map(|(from, _)| *from);
        }
    }
    // Starts come in their order, each once.
    let mut starts = starts.iter().copied();
    let mut places = vec![usize::MAX; found.len()];
    for (at, from) in origins.into_iter().enumerate() {
        if !is_kept[at] {
            continue;
        }
        let state = found.state(at);
        places[at] = match from {
            None => starts
                .find(|start| nodes[*start].state == *state)
                .expect("what was found without a way to it is a start"),
            Some((from, rule)) => {
                nodes.push(Node {
                    state: state.clone(),
                    from: Some((places[from], Transition::Rule(rule))),
                });
                nodes.len() - 1
            }
        };
    }
    reached.into_iter().map(|at| places[at]).collect()
}
