//! The call tree of selected functions, with arguments and results.

use std::collections::HashMap;

use reenact_engine::probes::{
    plan::{Plan, Probe},
    records::{Record, Records},
};

use crate::{
    capture::{Capture, Copies, Missing, is_done, number, taken},
    code::{self, Exit},
    executable::{Executable, ExecutableError},
    functions::{self, Function, Functions},
    result, show,
    types::Types,
};

/// Why no calls can be looked at.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The executable cannot be used.
    #[error(transparent)]
    Executable(#[from] ExecutableError),
    /// There are no such functions.
    #[error(
        "no function of the executable is in `{wanted}`; it has functions of {known}, and a crate that was built without \
         debug information (`debug = true` in its profile) is not among them",
        known = known.join(", ")
    )]
    NoFunction {
        /// What was asked for.
        wanted: String,
        /// The crates that the executable has.
        known: Vec<String>,
    },
    /// There is nothing about functions in the executable.
    #[error(
        "the executable has no debug information about functions: build it with `debug = true` in its profile, and \
         record it again"
    )]
    NoDebugInformation,
}

impl From<gimli::Error> for PlanError {
    fn from(error: gimli::Error) -> PlanError {
        PlanError::Executable(error.into())
    }
}

/// What a probe is for.
#[derive(Debug)]
enum Purpose {
    Enter {
        function: usize,
        arguments: Vec<Option<Capture>>,
        return_address: Option<u16>,
    },
    Leave {
        function: usize,
        result: Option<Capture>,
    },
}

/// A plan to look at the calls of functions.
pub struct CallPlan<'a, 'e> {
    types: Types<'a, 'e>,
    functions: Functions,
    plan: Plan,
    /// By the index of the probe.
    purposes: Vec<Purpose>,
    /// Functions that could not be looked at.
    left_out: usize,
}

/// The room for what is copied, in bytes.
const ROOM: u64 = 4 << 30;
/// The longest instruction.
const LONGEST: u64 = 15;

impl<'a, 'e> CallPlan<'a, 'e> {
    /// Plans to look at the functions whose paths begin with one of these.
    pub fn new(executable: &'e Executable<'a>, paths: &[String]) -> Result<Self, PlanError> {
        let mut types = Types::new(executable);
        let functions = functions::find(executable, &mut types, paths)?;
        if functions.all.is_empty() {
            return Err(match functions.crates.is_empty() {
                true => PlanError::NoDebugInformation,
                false => PlanError::NoFunction {
                    wanted: paths.join("`, `"),
                    known: functions.crates.into_iter().collect(),
                },
            });
        }
        let mut probes: HashMap<u64, (Probe, Purpose)> = HashMap::new();
        let mut left_out = 0;
        for (index, function) in functions.all.iter().enumerate() {
            match probes_of(executable, &types, index, function) {
                Some(all) => {
                    for (probe, purpose) in all {
                        probes.entry(probe.address).or_insert((probe, purpose));
                    }
                }
                None => left_out += 1,
            }
        }
        let mut all: Vec<_> = probes.into_values().collect();
        all.sort_by_key(|(probe, _)| probe.address);
        let (probes, purposes) = all.into_iter().unzip();
        Ok(CallPlan {
            types,
            functions,
            plan: Plan { probes, room: ROOM },
            purposes,
            left_out,
        })
    }

    /// Returns the plan for the replayed process.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns what people should know about the plan, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let functions = self.functions.all.len() - self.left_out;
        let mut note = format!("{functions} functions are looked at");
        if self.functions.inlined > 0 {
            note += &format!(
                "; {} copies of functions are inlined into others and cannot be told apart",
                self.functions.inlined
            );
        }
        if self.left_out > 0 {
            note += &format!(
                "; {} functions begin with an instruction that cannot be moved and are left out",
                self.left_out
            );
        }
        notes.push(note);
        if !self.functions.has_parameters {
            notes.push(
                "the debug information does not describe arguments: build with `debug = true` in the profile to see them"
                    .to_owned(),
            );
        }
        notes
    }

    /// Returns the calls that were seen, in the order in which they began. `main` is the number of the main activity, to
    /// which its thread belongs before its first operation, too.
    pub fn decode(&self, records: &Records, main: Option<u32>) -> Vec<Call> {
        let mut tree = Tree::default();
        for record in &records.records {
            let of_main = main.filter(|_| record.thread == records.main_thread);
            let record = &Record {
                activity: record.activity.or(of_main),
                ..record.clone()
            };
            match self.purposes.get(record.probe as usize) {
                Some(Purpose::Enter {
                    function,
                    arguments,
                    return_address,
                }) => {
                    let described = &self.functions.all[*function];
                    let shown = described.parameters.iter().zip(arguments);
                    let shown = shown.map(|(parameter, capture)| {
                        let value = self.shown(capture.as_ref(), record);
                        (parameter.name.clone(), value)
                    });
                    let from = return_address.filter(|&at| is_done(&record.copies, at));
                    let from = from.and_then(|at| taken(&record.copies, at, 8));
                    let caller = from.map(|bytes| number(bytes).wrapping_sub(records.bias));
                    tree.enter(
                        record,
                        *function,
                        Call {
                            activity: record.activity,
                            operation: record.operation,
                            sequence: record.sequence,
                            end: None,
                            depth: 0,
                            function: described.name.clone(),
                            line: described.line.clone(),
                            caller,
                            arguments: shown.collect(),
                            result: Outcome::NotReturned,
                        },
                    );
                }
                Some(Purpose::Leave { function, result }) => {
                    let result = result
                        .as_ref()
                        .map(|result| self.shown(Some(result), record));
                    tree.leave(
                        record,
                        *function,
                        match result {
                            Some(result) => Outcome::Returned(result),
                            None => Outcome::GoesOn,
                        },
                    );
                }
                None => {}
            }
        }
        tree.calls
    }

    fn shown(&self, capture: Option<&Capture>, record: &Record) -> String {
        let Some(capture) = capture else {
            return "<location not understood>".to_owned();
        };
        match capture.value(&self.types, &record.copies) {
            Ok(value) => show::show(&self.types, capture.ty, &value),
            Err(Missing::OptimisedAway) => "<optimised away>".to_owned(),
            Err(Missing::Unreadable) => "<not readable>".to_owned(),
        }
    }
}

fn probe(executable: &Executable<'_>, address: u64, copies: Copies) -> Option<Probe> {
    let code = (1..=LONGEST)
        .rev()
        .find_map(|length| executable.code(address, length))?;
    Some(Probe {
        address,
        replaced: *code.first()?,
        resume: code::resume(code, address).ok()?,
        copies: copies.all,
    })
}

/// Returns the probes of a function; `None` if there can be none where it begins.
fn probes_of(
    executable: &Executable<'_>,
    types: &Types<'_, '_>,
    index: usize,
    function: &Function,
) -> Option<Vec<(Probe, Purpose)>> {
    let mut copies = Copies::default();
    let return_address = function
        .caller
        .and_then(|(register, offset)| copies.memory((register, offset - 8), 8));
    let arguments = function.parameters.iter().map(|parameter| {
        let pieces = parameter.pieces.as_ref()?;
        Capture::plan(types, parameter.ty, pieces, &mut copies)
    });
    let purpose = Purpose::Enter {
        function: index,
        arguments: arguments.collect(),
        return_address,
    };
    let mut all = vec![(probe(executable, function.entry, copies)?, purpose)];
    let is_inside = |address| {
        let mut ranges = function.ranges.iter();
        ranges.any(|(begin, end)| (*begin..*end).contains(&address))
    };
    let pieces = result::pieces(types, function.result);
    for &(begin, end) in &function.ranges {
        let Some(code) = executable.code(begin, end - begin) else {
            continue;
        };
        for exit in code::exits(code, begin, is_inside) {
            let mut copies = Copies::default();
            let (address, result) = match exit {
                Exit::Return(address) => {
                    let capture = Capture::plan(types, function.result, &pieces, &mut copies);
                    (address, capture)
                }
                Exit::Jump(address) => (address, None),
            };
            let purpose = Purpose::Leave {
                function: index,
                result,
            };
            all.extend(probe(executable, address, copies).map(|probe| (probe, purpose)));
        }
    }
    Some(all)
}

/// A call of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The number of the activity in the trace; `None` if the thread ran none.
    pub activity: Option<u32>,
    /// How many operations the activity had done before.
    pub operation: u64,
    /// The position in the order of everything that was seen.
    pub sequence: u64,
    /// The position in that order at which it ended, if that was seen.
    pub end: Option<u64>,
    /// How many other calls it is part of.
    pub depth: usize,
    /// The name of the function.
    pub function: String,
    /// The file and the line of its declaration.
    pub line: Option<(String, u64)>,
    /// The address to which it returns, as in the executable file.
    pub caller: Option<u64>,
    /// The names and the values of the arguments.
    pub arguments: Vec<(String, String)>,
    /// How it ended.
    pub result: Outcome,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It returned this.
    Returned(String),
    /// It ended in a call of another function, whose result is its own.
    GoesOn,
    /// It did not return: by a panic, or the program ended first.
    NotReturned,
}

/// The calls so far.
#[derive(Default)]
struct Tree {
    calls: Vec<Call>,
    /// The calls that have not ended, by activity or thread: the index of the call, its function, and the stack.
    open: HashMap<(Option<u32>, u32), Vec<Open>>,
}

struct Open {
    call: usize,
    function: usize,
    stack: u64,
}

/// Returns who calls: an activity may move from thread to thread.
fn caller_of(record: &Record) -> (Option<u32>, u32) {
    match record.activity {
        Some(activity) => (Some(activity), 0),
        None => (None, record.thread),
    }
}

impl Tree {
    fn enter(&mut self, record: &Record, function: usize, call: Call) {
        let open = self.open.entry(caller_of(record)).or_default();
        // The stack grows downwards: what is below the new frame has been unwound.
        while open.last().is_some_and(|last| last.stack <= record.stack) {
            if let Some(unwound) = open.pop() {
                self.calls[unwound.call].end = Some(record.sequence);
            }
        }
        let call = Call {
            depth: open.len(),
            ..call
        };
        open.push(Open {
            call: self.calls.len(),
            function,
            stack: record.stack,
        });
        self.calls.push(call);
    }

    fn leave(&mut self, record: &Record, function: usize, outcome: Outcome) {
        let open = self.open.entry(caller_of(record)).or_default();
        let Some(index) = open.iter().rposition(|call| call.function == function) else {
            return;
        };
        self.calls[open[index].call].result = outcome;
        for ended in open.drain(index..) {
            self.calls[ended.call].end = Some(record.sequence);
        }
    }
}
