//! The arguments of the commands that debug a program in all its universes.

use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf, time::Duration};

/// See everything that a program can do, whatever the order of its threads or messages
///
/// A Rust program that uses reenact (-- CMD) is run again and again, each time another way, until one fails or all have
/// been tried. The schedule that makes it fail is told step by step and kept in a file, and leads there again every time.
///
/// A recording (FILE.reenact) is where to begin: what else could have happened, near to what did happen first, which of
/// that fails and which does not.
///
/// A program in Featherweight AmbientTalk (FILE.at) or in λ_amb (FILE.amb) is searched for every outcome, with a
/// shortest way to it, deadlocks, errors that nobody catches, and livelocks. A universe is a state that the program can
/// be in; those that are equal are one.
///
/// With --break, the program stops in every universe that comes to a breakpoint, and each --step is taken in all of
/// them at once. To do the same by hand, see: reenact debug --help
#[derive(Debug, clap::Args)]
#[command(after_help = EXPLORE_HELP, after_long_help = EXPLORE_LONG_HELP)]
pub(crate) struct ExploreArgs {
    /// The program, or a recording
    #[arg(value_name = "FILE", required_unless_present = "command")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// Stop there, in every universe; may be given several times
    #[arg(long = "break", value_name = "BREAKPOINT")]
    pub(crate) breakpoints: Vec<String>,
    /// Then take this step in every universe that is paused, such as next-turn or 'next-turn math'; may be given several
    /// times
    #[arg(long = "step", value_name = "STEP", requires = "breakpoints")]
    pub(crate) steps: Vec<String>,
    /// Say in how many universes this is true, and how to get to the nearest of them
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) conditions: Vec<String>,
    /// See every end, and leave out universes that make no difference to that
    #[arg(long, conflicts_with = "breakpoints")]
    pub(crate) reduced: bool,
    /// Follow each way to its end before the next; uses one core
    #[arg(long, conflicts_with = "breakpoints")]
    pub(crate) depth_first: bool,
    /// Let a step be one rule of the language; otherwise it is all that concerns nobody else
    #[arg(long)]
    pub(crate) single_step: bool,
    /// How many cores to use [default: all]; for a Rust program, see --cores
    #[arg(long, value_name = "N", conflicts_with_all = ["breakpoints", "command"])]
    pub(crate) workers: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    /// Give up beyond so many steps in a row
    #[arg(long, value_name = "N", conflicts_with = "breakpoints")]
    pub(crate) max_depth: Option<u32>,
    /// Give up at so much memory [default: 2048]
    #[arg(long, value_name = "MB", conflicts_with = "breakpoints")]
    pub(crate) max_memory: Option<usize>,
    /// Tell the way to every outcome, however many there are
    #[arg(long, overrides_with = "no_stories")]
    pub(crate) stories: bool,
    /// Tell no ways
    #[arg(long)]
    pub(crate) no_stories: bool,
    /// Print a picture for Graphviz, and nothing else
    #[arg(long, conflicts_with_all = ["json", "conditions"])]
    pub(crate) dot: bool,
    /// Print one JSON object, and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// With --json: every universe and every step between them as well
    #[arg(long, requires = "json", conflicts_with = "breakpoints")]
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
    #[arg(long, value_name = "N")]
    pub(crate) executions: Option<u64>,
    /// Maximum number of steps of an execution [default: 20000]
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u32>,
    /// Seed of the random strategies [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// With a program (-- CMD): number of cores to use, where the work can be divided [default: 1]
    #[arg(
        long,
        value_name = "N",
        requires = "command",
        conflicts_with = "breakpoints"
    )]
    pub(crate) cores: Option<NonZeroUsize>,
    /// Follow this schedule instead, once, and show what the program prints
    #[arg(long, value_name = "FILE", conflicts_with_all = ["strategy", "executions"])]
    pub(crate) schedule: Option<PathBuf>,
    /// Where schedules go [default: the program's name with .schedule, in this directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// With a recording: only what comes at this operation of it or later may differ
    #[arg(long, value_name = "EVENT")]
    pub(crate) from: Option<usize>,
    /// With a recording: only what differs from it by so many reorderings [default: 2]
    #[arg(long, value_name = "N")]
    pub(crate) near: Option<u32>,
    /// With a recording: every other outcome, however far away
    #[arg(long, conflicts_with = "near")]
    pub(crate) other_outcomes: bool,
    /// With a recording: even if the program is another one than that recorded
    #[arg(long)]
    pub(crate) force: bool,
}

/// When to give up.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct BoundsArgs {
    /// Give up at so many universes [default: 5 million; with breakpoints, 1 million]
    #[arg(long, value_name = "N")]
    pub(crate) max_states: Option<NonZeroUsize>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_time: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "it is not a time to wait".to_owned())
}

const EXPLORE_HELP: &str = "\
Examples:
  reenact explore -- ./app --fast                          Until it fails, or all has been tried
  reenact explore --schedule app.schedule -- ./app --fast  The failure again, with what it prints
  reenact explore bug.reenact                              What else could have happened
  reenact explore listing1.at                              What can come of it, and how
  reenact explore listing1.at --where 'math.result == 66'  …and where that is so
  reenact explore listing1.at --break 'message-receiver by math' --step next-turn
  reenact explore listing1.at --dot | dot -Tsvg > listing1.svg

Exit status: 0 if every end is as it should be; 1 if there is a failure, a deadlock, an error
that nobody catches or a livelock; 2 if the program or the question cannot be understood.";

const EXPLORE_LONG_HELP: &str = "\
Breakpoints:
  KIND [METHOD] [by ACTIVITY] [to ACTIVITY] [at LINE] [if EXPR]
  line LINE [if EXPR]

  message-sender           Who is about to send a message
  message-receiver at 11   Who is about to process what line 11 has sent
  before-turn double       Who is about to process a message double
  after-turn by math if math.result == 24
  What kinds and steps there are is said by: help break, help step in reenact debug

Expressions:
  What an actor looks like in a universe is said by: show in reenact debug
  math.result == 66 && math.inbox.length > 0
  contains(client1.printed, \"66\") || math == null

Examples:
  reenact explore listing1.at                              What can come of it, and how
  reenact explore listing1.at --where 'math.result == 66'  …and where that is so
  reenact explore listing1.at --break 'message-receiver by math' --step next-turn
  reenact explore big.at --reduced --max-time 60           Every end of a large program
  reenact explore listing1.at --dot | dot -Tsvg > listing1.svg
  reenact explore listing1.at --json | jq '.outcomes[].outcome'

Exit status: 0 if every end is as it should be; 1 if there is a deadlock, an error that nobody
catches or a livelock; 2 if the program or the question cannot be understood. With --break, only
the universes that have ended count. What a bound has kept from being seen does not count.";

/// Debug a program in all its universes at once
///
/// Opens a session with a Rust program that uses reenact (-- CMD), or with the program in FILE, which is in Featherweight
/// AmbientTalk (.at) or in λ_amb (.amb). A breakpoint
/// stops the program in every universe that comes to it, a step is taken in one of them or in all, and every universe can
/// be looked at, compared with another one and traced back to the start. Nothing is missed: where a program can go more
/// than one way, it goes all of them.
///
/// Commands are read from the terminal, or from standard input, a line each.
#[derive(Debug, clap::Args)]
#[command(after_help = DEBUG_HELP)]
pub(crate) struct DebugArgs {
    /// The program
    #[arg(value_name = "FILE", required_unless_present = "command")]
    pub(crate) file: Option<PathBuf>,
    /// Let a step be one rule of the language; otherwise it is all that concerns nobody else
    #[arg(long)]
    pub(crate) single_step: bool,
    /// With a Rust program: let giving a lock back be a step, even if nobody could tell when it happens
    #[arg(long)]
    pub(crate) unlocks: bool,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    /// A Rust program that uses reenact, with its arguments
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["file", "single_step"])]
    pub(crate) command: Vec<OsString>,
}

const DEBUG_HELP: &str = "\
Examples:
  reenact debug listing1.at                    Then type: help
  reenact debug listing1.at < listing1.debug   The commands of a file, with what they say
  reenact debug -- ./app --fast                A Rust program that uses reenact
  reenact debug run.reenact                    The same from a recording: begins where that ended

A session may look like this:
  ends                                What can come of the program
  break message-receiver by math      Stop before math processes a message
  run                                 …in every universe
  show math.inbox                     What it is about to process
  next-turn                           To the message after that
  universes                           Which is not the same in all universes
  story 1                             How universe 1 came about

Exit status: 0; 1 if a command on standard input failed (the others are done all the same);
2 if the program cannot be understood.";
