//! The command line, and the help that goes with it.

mod applies;
mod multiverse;

use std::{ffi::OsString, path::PathBuf};

use clap::{Parser, ValueEnum};

pub(crate) use self::multiverse::{BoundsArgs, DebugArgs, ExploreArgs};

/// Record, replay and explore concurrent Rust programs.
///
/// A program that uses reenact::{thread, sync} in place of std::{thread, sync}, or one of reenact's other models, can be
/// recorded without another build. The recording is one small file. A replay repeats every lock, message and wake-up in
/// the recorded order, so that a failure that happened once happens every time.
///
/// Such a program, or a recording of it, can also be explored: run under other schedules, and debugged in all of them at
/// once.
#[derive(Debug, Parser)]
#[command(name = "reenact", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Subcommand,
}

const EXAMPLES: &str = "\
Examples:
  reenact demo                               Record and replay a small program with a bug
  reenact demo actors                        The same with actors
  reenact record -- ./app --port 80          Run ./app and record it to app.reenact
  reenact replay app.reenact                 Repeat the run
  reenact replay app.reenact --times 100     Repeat it a hundred times
  reenact refine app.reenact --calls app     Print which functions were called, with their arguments
  reenact trace stats app.reenact            Summarize the recording
  reenact explore app.reenact                Try schedules similar to the recorded one
  reenact explore -- ./app                   Try schedules until one fails
  reenact debug -- ./app                     Debug it under all schedules at once";

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Subcommand {
    Record(RecordArgs),
    Replay(ReplayArgs),
    Refine(RefineArgs),
    /// Inspect a recording
    #[command(subcommand)]
    Trace(TraceCommand),
    Explore(Box<ExploreArgs>),
    Debug(DebugArgs),
    /// Record and replay a small program with an ordering bug
    ///
    /// Runs the program until it fails, replays the failure, and shows what happened in which order. Leaves no files
    /// behind.
    Demo(DemoArgs),
    #[command(hide = true)]
    DemoProgram(DemoProgramArgs),
}

/// Run a program and record it
///
/// Runs CMD as it would run without reenact: with the same terminal, exit status and signals. The order in which its
/// threads interact is written to FILE while they run, so that nothing is lost if the program crashes or is killed. If
/// the program starts other programs that use reenact, each of them gets its own file: FILE.2.reenact and so on.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "reenact record [-o FILE] [--strategy SIDE] [--redact NAME,...] [--env NAME,...] -- CMD...",
    after_help = RECORD_HELP
)]
pub(crate) struct RecordArgs {
    /// File to write the recording to [default: the program's name with .reenact, in this directory]
    ///
    /// An existing recording is replaced; a file of another kind is not.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Which side of a message to an actor records its order [default: receiver]
    ///
    /// This affects only programs with actors. Both replay the same run.
    ///
    /// The receiver writes a byte or two for each message whose sender it did not predict: nothing for an actor with one
    /// sender or with senders that take turns. The sender writes the position of its message in the actor's mailbox if
    /// another activity has sent to that actor in between: nothing for the only sender to an actor. If a recording is too
    /// large or too slow, try the other side: reenact trace stats shows which one is smaller.
    ///
    /// A replay finds this in the recording. Without this option, the variable REENACT_STRATEGY is used, if it is set.
    #[arg(long, value_name = "SIDE")]
    pub(crate) strategy: Option<RecordingSide>,
    /// What to leave out of the recording, separated by commas, such as header:authorization,env:TOKEN
    ///
    /// A recording contains what the program reads from outside (requests, files, the environment) and what it prints.
    /// These can be left out:
    ///
    ///   header:NAME    a header of requests
    ///   body:PATH      the body of requests to this path
    ///   env:NAME       an environment variable
    ///   file:PATH      what is read from this file, with the path as the program gives it
    ///   socket:ADDR    what is read from the peer, or by the socket, with this address
    ///   process:NAME   what is read from a program that the program runs
    ///   external:NAME  the value that the program gets through reenact::external("NAME", …)
    ///   source:NAME    the values of the source with this name
    ///   output:STREAM  the text that the program prints, where STREAM is stdout or stderr
    ///
    /// The program itself is not affected. A replay stops with a message where the program reads what was left out. What
    /// it prints is still compared, by a hash.
    ///
    /// Only their owner can read recordings. Without this option, the variable REENACT_REDACT is used, if it is set.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = secret, verbatim_doc_comment)]
    pub(crate) redact: Vec<String>,
    /// Environment variables to record in any case, separated by commas, such as CONFIG,APP_*; '*' for all
    ///
    /// A recording contains the language, the time zone and the kind of terminal (LANG, LC_*, TZ, TERM, …) and the
    /// variables that the program reads with getenv, as std::env::var does. Name others here if the program finds them
    /// another way, as std::env::vars does.
    ///
    /// If the name or the value of a variable looks like a secret (TOKEN, KEY, PASSWORD, …), its value is not recorded;
    /// a replay takes it from its own environment. Its exact name here records it all the same. --redact env:NAME takes
    /// precedence. Without this option, the variable REENACT_ENV is used, if it is set.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) env: Vec<String>,
    /// The program and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

/// Parses one item of `--redact`, such as `env:TOKEN`.
fn secret(text: &str) -> Result<String, String> {
    const KINDS: [&str; 9] = [
        "header", "body", "env", "file", "socket", "process", "external", "source", "output",
    ];
    let text = text.trim();
    match text.split_once(':') {
        Some(("output", name)) if !["stdout", "stderr"].contains(&name) => {
            Err("expected output:stdout or output:stderr".to_owned())
        }
        Some((kind, name)) if KINDS.contains(&kind) && !name.is_empty() => Ok(text.to_owned()),
        _ => Err(format!(
            "expected KIND:NAME, where KIND is one of {}",
            KINDS.join(", ")
        )),
    }
}

/// Which side of a message records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordingSide {
    /// The actor that handles the message (the default)
    Receiver,
    /// The activity that sends it
    Sender,
}

impl RecordingSide {
    /// The name that the engine expects.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RecordingSide::Receiver => "receiver",
            RecordingSide::Sender => "sender",
        }
    }
}

const RECORD_HELP: &str = "\
Examples:
  reenact record -- ./app                    Record to app.reenact
  reenact record -o bug.reenact -- ./app -v  Record to bug.reenact
  reenact record --redact header:authorization,env:DB_PASSWORD -- ./app
  while reenact record -- ./app; do :; done  Record until it fails

Exit status: that of CMD; 125 if reenact itself failed, 126 or 127 if CMD could not be run.";

/// Repeat a recorded run exactly
///
/// Starts the recorded program with the recorded arguments, environment and directory, and makes its threads interact in
/// the recorded order. What it reads (clocks, random numbers, files, requests) comes from the recording, so neither the
/// files nor the network are needed. It runs on all cores and does not wait for timeouts. If the program does something
/// that is not in the recording, the replay stops and reports which thread did what, and where.
#[derive(Debug, clap::Args)]
#[command(after_help = REPLAY_HELP)]
pub(crate) struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Number of replays; the program's output is shown the first time only
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) times: u64,
    /// Replay even if the program is not the one that was recorded
    #[arg(long)]
    pub(crate) force: bool,
    /// Start the program that the recording names, wherever it is
    ///
    /// A recording names a program, its arguments and its directory, and may come from somebody else. The program is
    /// started if you name it (-- CMD), or if it is below the current directory, is the build that was recorded, and
    /// belongs to you. For any other, you are asked at a terminal; without one, this option is necessary.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Print every operation in order; with =FILE, write them to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) log: Option<Option<PathBuf>>,
    /// Write to files and sockets during the replay
    ///
    /// By default a replay changes nothing outside: what the program writes is only compared with the recording, apart
    /// from its standard output. With this option, files are created, written and removed, and data are sent to the peers
    /// that the program connects to. What the program reads still comes from the recording.
    #[arg(long)]
    pub(crate) really_write: bool,
    /// Show the program's output every time
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print one JSON object per replay; the program's output goes to standard error
    #[arg(long)]
    pub(crate) json: bool,
    /// The program, if it has moved; arguments after it replace the recorded ones
    #[arg(value_name = "CMD", last = true)]
    pub(crate) command: Vec<OsString>,
}

const REPLAY_HELP: &str = "\
Examples:
  reenact replay bug.reenact                 Replay once, with the program's output
  reenact replay bug.reenact --times 100     Replay a hundred times
  reenact replay bug.reenact --log           Print every operation in order
  reenact replay bug.reenact -- ./app        Replay a program that has moved

Exit status: that of the program if it ended as recorded (with --times: 0 if it did so every time);
0 if the recording ends before the program does; 86 if a replay differed from the recording, or
printed something else; 125 if reenact itself failed.";

/// See more of a recorded run than was collected when it was recorded
///
/// Replays the recording and looks into the program while it runs: the executable stays as it is. What was recorded is the
/// order of events, so everything else can be asked for afterwards, as often as you like.
#[derive(Debug, clap::Args)]
#[command(after_help = REFINE_HELP)]
pub(crate) struct RefineArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print the calls of functions whose paths begin with PATH, with arguments and results
    ///
    /// PATH is a crate or a module, such as my_crate or my_crate::parser. Arguments are shown as far as the debug information
    /// of the executable describes them: `debug = true` in the profile.
    #[arg(
        long,
        value_name = "PATH",
        required_unless_present = "lanes",
        value_delimiter = ','
    )]
    pub(crate) calls: Vec<String>,
    /// Draw which activity did what in which order, with a column for each
    ///
    /// A full circle marks an operation on an object that another activity has used before it.
    #[arg(long, conflicts_with_all = ["calls", "json"])]
    pub(crate) lanes: bool,
    /// Draw only the last N operations
    #[arg(long, value_name = "N", requires = "lanes", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) last: Option<u64>,
    /// Draw only operations on objects whose names contain TEXT
    #[arg(long, value_name = "TEXT", requires = "lanes")]
    pub(crate) object: Option<String>,
    /// Replay even if the program is not the one that was recorded
    #[arg(long)]
    pub(crate) force: bool,
    /// Start the program that the recording names, wherever it is; see: reenact replay --help
    #[arg(long)]
    pub(crate) trust: bool,
    /// Print one JSON object per operation and call
    #[arg(long)]
    pub(crate) json: bool,
    /// The program, if it has moved; arguments after it replace the recorded ones
    #[arg(value_name = "CMD", last = true)]
    pub(crate) command: Vec<OsString>,
}

const REFINE_HELP: &str = "\
Examples:
  reenact refine bug.reenact --calls my_crate             Which functions were called, with which arguments
  reenact refine bug.reenact --calls my_crate::parser     Only those of one module
  reenact refine bug.reenact --lanes --last 30            What happened just before the end
  reenact refine bug.reenact --lanes --object mutex       Who locked what

Exit status: 0 if the replay followed the recording; 86 if it differed; 125 if reenact itself failed.";

#[derive(Debug, clap::Subcommand)]
pub(crate) enum TraceCommand {
    Show(ShowArgs),
    Stats(StatsArgs),
    Check(CheckArgs),
}

/// Print the events of a recording, activity by activity
///
/// An event is an operation that did not go as predicted. Operations that did are only counted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  reenact trace show bug.reenact --limit 10
  reenact trace show bug.reenact --activity main.2     The third thread that main started
  reenact trace show bug.reenact --activity worker     The threads called \"worker\"")]
pub(crate) struct ShowArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Only this activity: its position in the family tree, such as main.0, or the name of its thread
    #[arg(long, value_name = "NAME")]
    pub(crate) activity: Option<String>,
    /// Maximum number of events per activity
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
}

/// Summarize a recording: activities, operations, events, bytes
#[derive(Debug, clap::Args)]
pub(crate) struct StatsArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Verify every byte of a recording
///
/// Exit status: 0 if the recording is intact, 1 if it is damaged, 2 if it could not be read.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Which program
    #[arg(value_enum, default_value_t, hide_default_value = true)]
    pub(crate) name: DemoName,
}

/// The stories of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum DemoName {
    /// Two threads and an account (the default)
    #[default]
    Threads,
    /// Three actors and an untimely message
    Actors,
}

/// Run one of the programs that the demo records.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoProgramArgs {
    /// Which one.
    pub(crate) name: String,
    /// How much work it does where it races.
    pub(crate) work: u64,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_defined() {
        Args::command().debug_assert();
    }
}
