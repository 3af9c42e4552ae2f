//! The arguments of the commands that debug a program in all its universes.

use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf, time::Duration};

use reenact_multiverse::Limits;

use crate::explore::MAX_STATES_IN_DEBUGGER;

/// Run a program under every schedule, or as many as you allow
///
/// A Rust program that uses reenact (-- CMD) is run again and again, each time with another schedule, until it fails or
/// every schedule has been tried. The failing schedule is printed step by step and written to a file, with which the
/// failure can be repeated.
///
/// With a recording (FILE.reenact), the exploration starts from the recorded schedule: it tries the most similar
/// schedules first, and shows which of them fail and which do not.
///
/// For a program in Featherweight AmbientTalk (FILE.at) or in λ_amb (FILE.amb), it finds every outcome with a shortest
/// schedule that leads to it, and every deadlock, uncaught error and livelock. A universe is a state that the program can
/// reach; equal states are the same universe.
///
/// With --break, the program stops in every universe that reaches a breakpoint, and each --step is taken in all of
/// them. For the same interactively, see: reenact debug --help
#[derive(Debug, clap::Args)]
#[command(after_help = EXPLORE_HELP, after_long_help = EXPLORE_LONG_HELP)]
pub(crate) struct ExploreArgs {
    /// The program, or a recording
    #[arg(value_name = "FILE", required_unless_present = "command")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// Stop at this breakpoint, in every universe; may be given several times
    #[arg(long = "break", value_name = "BREAKPOINT")]
    pub(crate) breakpoints: Vec<String>,
    /// Then take this step in every paused universe, such as next-turn or 'next-turn math'; may be given several times
    #[arg(long = "step", value_name = "STEP", requires = "breakpoints")]
    pub(crate) steps: Vec<String>,
    /// Count the universes in which this is true, and print a shortest schedule to one of them
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) conditions: Vec<String>,
    /// Find every end, but skip universes that do not lead to another one
    #[arg(long)]
    pub(crate) reduced: bool,
    /// Search depth first, on one core
    #[arg(long)]
    pub(crate) depth_first: bool,
    /// One step per rule (default: one step up to the next visible action)
    #[arg(long)]
    pub(crate) single_step: bool,
    /// Number of cores to use [default: all]; for a Rust program, see --cores
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    /// Maximum number of steps in a row
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Maximum memory [default: 2048]
    #[arg(long, value_name = "MB")]
    pub(crate) max_memory: Option<usize>,
    /// Print a schedule for every outcome, however many there are
    #[arg(long, overrides_with = "no_stories")]
    pub(crate) stories: bool,
    /// Print no schedules
    #[arg(long)]
    pub(crate) no_stories: bool,
    /// Print only a graph, for Graphviz
    #[arg(long, conflicts_with_all = ["json", "conditions"])]
    pub(crate) dot: bool,
    /// Print only a JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// With --json: also print every universe, and every step between them
    #[arg(long, requires = "json")]
    pub(crate) graph: bool,
    /// A Rust program that uses reenact, with its arguments
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// How a Rust program is explored.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rust programs and recordings")]
pub(crate) struct ProgramArgs {
    /// How to choose executions: portfolio, exhaustive, mixed, urw, walk, 'pct N', 'pctcp N', pos, 'preemptions N',
    /// 'delays N' [default: portfolio]
    #[arg(long, value_name = "NAME")]
    pub(crate) strategy: Option<String>,
    /// Maximum number of executions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) executions: Option<u64>,
    /// Maximum number of steps of an execution [default: 20000]
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u32>,
    /// Seed of the random strategies [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// With a program (-- CMD): number of cores to use, where the work can be divided [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) cores: Option<NonZeroUsize>,
    /// Allow threads and processes to wait forever, except for a lock, when main has ended
    #[arg(long)]
    pub(crate) allow_blocked: bool,
    /// With a program (-- CMD): let up to N waits of each activity end without a reason
    #[arg(long, value_name = "N")]
    pub(crate) spurious_wakeups: Option<u32>,
    /// Follow this schedule once, and show what the program prints
    #[arg(long, value_name = "FILE", conflicts_with_all = ["strategy", "executions"])]
    pub(crate) schedule: Option<PathBuf>,
    /// File to write schedules to [default: the program's name with .schedule, in this directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// With a recording: keep the recorded schedule up to this operation
    #[arg(long, value_name = "EVENT")]
    pub(crate) from: Option<usize>,
    /// With a recording: maximum number of reorderings [default: 2]
    #[arg(long, value_name = "N")]
    pub(crate) near: Option<u32>,
    /// With a recording: find every other outcome, with any number of reorderings
    #[arg(long, conflicts_with = "near")]
    pub(crate) other_outcomes: bool,
    /// With a recording: explore even if the program is not the one that was recorded
    #[arg(long)]
    pub(crate) force: bool,
    /// With a recording: start the program that it names, wherever it is; see: reenact replay --help
    #[arg(long)]
    pub(crate) trust: bool,
}

/// When to stop.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct BoundsArgs {
    /// Maximum number of universes [default: 5 million; with breakpoints, 1 million]
    #[arg(long, value_name = "N")]
    pub(crate) max_states: Option<NonZeroUsize>,
    /// Maximum time, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_time: Option<Duration>,
}

impl BoundsArgs {
    /// The limits of a session of the debugger.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            states: self
                .max_states
                .map_or(MAX_STATES_IN_DEBUGGER, NonZeroUsize::get),
            time: self.max_time,
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| "must be a positive number of seconds".to_owned())
}

const EXPLORE_HELP: &str = "\
Examples:
  reenact explore -- ./app --fast                          Try schedules until one fails
  reenact explore --schedule app.schedule -- ./app --fast  Repeat the failure, with its output
  reenact explore bug.reenact                              Try schedules similar to the recorded one
  reenact explore listing1.at                              Find every outcome
  reenact explore listing1.at --where 'math.result == 66'  Find where the result is 66
  reenact explore listing1.at --break 'message-receiver by math' --step next-turn
  reenact explore listing1.at --dot | dot -Tsvg > listing1.svg

Exit status: 0 if nothing fails and nothing is left to explore; 1 if there is a failure, a
deadlock, an uncaught error or a livelock; 2 if the program or an option is not valid or nothing was
explored; 3 if nothing failed but not everything was explored; 86 if a recording does not fit.";

const EXPLORE_LONG_HELP: &str = "\
Breakpoints:
  KIND [METHOD] [by ACTIVITY] [to ACTIVITY] [at LINE] [if EXPR]
  line LINE [if EXPR]

  message-sender           Before an actor sends a message
  message-receiver at 11   Before an actor processes a message sent at line 11
  before-turn double       Before an actor processes a message double
  after-turn by math if math.result == 24
  For all kinds and steps, type in reenact debug: help break, help step

Expressions:
  For the state of an actor in a universe, type in reenact debug: show
  math.result == 66 && math.inbox.length > 0
  contains(client1.printed, \"66\") || math == null

Examples:
  reenact explore listing1.at                              Find every outcome
  reenact explore listing1.at --where 'math.result == 66'  Find where the result is 66
  reenact explore listing1.at --break 'message-receiver by math' --step next-turn
  reenact explore big.at --reduced --max-time 60           Find every end of a large program
  reenact explore listing1.at --dot | dot -Tsvg > listing1.svg
  reenact explore listing1.at --json | jq '.outcomes[].outcome'

Exit status: 0 if nothing fails and nothing is left to explore; 1 if there is a failure, a
deadlock, an uncaught error or a livelock; 2 if the program or an option is not valid or nothing was
explored; 3 if nothing failed but not everything was explored: a limit was reached, executions were
drawn at random, or the program did something outside reenact's control; 86 if a recording does not
fit. With --break, only universes that have ended count.";

/// Debug a program in all its universes at once
///
/// Opens a session with a Rust program that uses reenact (-- CMD), with a recording (FILE.reenact), or with a program in
/// Featherweight AmbientTalk (FILE.at) or in λ_amb (FILE.amb). A breakpoint stops the program in every universe that
/// reaches it. A step is taken in one universe or in all of them. Every universe can be inspected, compared with another
/// one and traced back to the start. Where the program can continue in several ways, the debugger follows all of them.
///
/// Commands are read from the terminal or from standard input, one per line.
#[derive(Debug, clap::Args)]
#[command(after_help = DEBUG_HELP)]
pub(crate) struct DebugArgs {
    /// The program, or a recording
    #[arg(value_name = "FILE", required_unless_present = "command")]
    pub(crate) file: Option<PathBuf>,
    /// One step per rule (default: one step up to the next visible action)
    #[arg(long)]
    pub(crate) single_step: bool,
    /// With a recording: start the program that it names, wherever it is; see: reenact replay --help
    #[arg(long, conflicts_with = "command")]
    pub(crate) trust: bool,
    /// With a Rust program: make every unlock a step, even where it makes no difference
    #[arg(long)]
    pub(crate) unlocks: bool,
    /// With a Rust program: let up to N waits of each activity end without a reason
    #[arg(long, value_name = "N", conflicts_with = "file")]
    pub(crate) spurious_wakeups: Option<u32>,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    /// A Rust program that uses reenact, with its arguments
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["file", "single_step"])]
    pub(crate) command: Vec<OsString>,
}

const DEBUG_HELP: &str = "\
Examples:
  reenact debug listing1.at                    Then type: help
  reenact debug listing1.at < listing1.debug   Run the commands in a file
  reenact debug -- ./app --fast                Debug a Rust program that uses reenact
  reenact debug run.reenact                    Start at the end of a recording

An example session:
  ends                                List the outcomes of the program
  break message-receiver by math      Stop before math processes a message
  run                                 Run until then, in every universe
  show math.inbox                     Show the messages that math has received
  next-turn                           Step to its next message, in every universe
  universes                           List the universes
  story 1                             Show the schedule that leads to universe 1

Exit status: 0; 1 if a command on standard input failed (the rest still run); 2 if the program is
not valid.";
