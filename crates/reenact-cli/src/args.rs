//! The command line, and the help that goes with it.

mod multiverse;

use std::{ffi::OsString, path::PathBuf};

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use self::multiverse::{BoundsArgs, DebugArgs, ExploreArgs};

/// Record a concurrent Rust program, and replay what happened as often as you like.
///
/// A program that uses reenact::{thread, sync} in place of std::{thread, sync}, or reenact::actor, can be recorded as
/// it is, without another build. The recording is one small file; replaying it takes every lock, message and wake-up in
/// the order in which they happened, so that a failure that came once comes every time.
///
/// A program of actors in AmbientTalk can be debugged in all its universes at once: every order of its messages, with what
/// comes of it.
#[derive(Debug, Parser)]
#[command(name = "reenact", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  reenact demo                               See it work on a bug that comes and goes
  reenact demo actors                        …and on messages that come in a bad order
  reenact record -- ./app --port 80          Run ./app and keep how it went in app.reenact
  reenact replay app.reenact                 The same run again
  reenact replay app.reenact --times 100     …and a hundred times, to be sure
  reenact trace stats app.reenact            What the recording holds
  reenact explore bank.at                    Everything that a program of actors can do
  reenact debug bank.at                      …step by step, in all universes at once";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Record(RecordArgs),
    Replay(ReplayArgs),
    /// Look into a recording
    #[command(subcommand)]
    Trace(TraceCommand),
    Explore(Box<ExploreArgs>),
    Debug(DebugArgs),
    /// See it work: catch a bug that comes and goes, and replay it
    ///
    /// Runs a small program with an ordering bug until it fails, replays the failure, and shows what happened in
    /// which order. Needs nothing and leaves nothing behind.
    Demo(DemoArgs),
    #[command(hide = true)]
    DemoProgram(DemoProgramArgs),
}

/// Run a program and keep how it went
///
/// Runs CMD as it would run without reenact: same terminal, same exit status, same signals. What its threads did to
/// each other goes to FILE while it happens, so a crash or a kill loses nothing. If the program starts further
/// programs that use reenact, each gets a file of its own beside it: FILE.2.reenact and so on.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "reenact record [-o FILE] [--strategy SIDE] [--redact NAME,...] -- CMD...",
    after_help = RECORD_HELP
)]
pub(crate) struct RecordArgs {
    /// Where the recording goes [default: the program's name with .reenact, in this directory]
    ///
    /// A recording that is already there is replaced; a file of another kind is not.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Which side of a message to an actor writes its place in the order down [default: receiver]
    ///
    /// It is for programs with actors; threads and locks are recorded alike in both. Either replays the same run.
    ///
    /// The receiver writes whose message came next, unless it was the one it predicted: nothing for an actor with one
    /// partner or with partners that take turns, a byte or two otherwise. The sender writes the position that its
    /// message was given, unless nobody else has sent to that actor since: nothing for a sender that has its receiver to
    /// itself. If a recording is larger or slower than you like, try the other one: reenact trace stats says which is
    /// smaller.
    ///
    /// The recording knows which it is. Without this option, the variable REENACT_STRATEGY decides, if it is set.
    #[arg(long, value_name = "SIDE")]
    pub(crate) strategy: Option<Strategy>,
    /// What to keep out of the recording, with commas between, such as header:authorization,env:TOKEN
    ///
    /// A recording has what came from outside: requests, files, the environment. What is named here is not in it:
    ///
    ///   header:NAME    the header of a request
    ///   body:PATH      the body of a request to this path
    ///   env:NAME       the variable of the environment
    ///   file:PATH      what is read from the file, which goes by the path that the program uses
    ///   socket:ADDR    what is read from the peer, or by the socket, at this address
    ///   process:NAME   what is read from a program that the program runs
    ///   external:NAME  the value that the program gets through reenact::external("NAME", …)
    ///   source:NAME    what comes from the source of this name
    ///
    /// The program sees it as usual. A replay in which it asks for it stops there and says what it is.
    ///
    /// Recordings can be read by their owner only. Without this option, the variable REENACT_REDACT decides, if it is set.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = secret, verbatim_doc_comment)]
    pub(crate) redact: Vec<String>,
    /// The program and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

/// Parses one item of `--redact`, such as `env:TOKEN`.
fn secret(text: &str) -> Result<String, String> {
    const KINDS: [&str; 8] = [
        "header", "body", "env", "file", "socket", "process", "external", "source",
    ];
    let text = text.trim();
    match text.split_once(':') {
        Some((kind, name)) if KINDS.contains(&kind) && !name.is_empty() => Ok(text.to_owned()),
        _ => Err(format!(
            "it should be one of these, a colon and a name: {}",
            KINDS.join(", ")
        )),
    }
}

/// Which side of a message records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// Who handles the message (the default)
    Receiver,
    /// Who sends it
    Sender,
}

impl Strategy {
    /// The name that the engine expects.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Strategy::Receiver => "receiver",
            Strategy::Sender => "sender",
        }
    }
}

const RECORD_HELP: &str = "\
Examples:
  reenact record -- ./app                    Recorded to app.reenact
  reenact record -o bug.reenact -- ./app -v  Recorded to bug.reenact
  reenact record --redact header:authorization,env:DB_PASSWORD -- ./app
  while reenact record -- ./app; do :; done  Again and again until it fails

Exit status: that of CMD; 125 if reenact itself failed, 126 or 127 if CMD could not be run.";

/// Run a recorded program again, exactly as it went
///
/// Starts the recorded program with the arguments, environment and directory it had, and makes its threads meet as
/// they did. What it reads (clocks, random numbers, files, requests) comes from the recording; files may be gone and the
/// network off. It runs on all cores and waits for no timeout. If the program does something else than the recording
/// says, the replay stops and says who did what, and where.
#[derive(Debug, clap::Args)]
#[command(after_help = REPLAY_HELP)]
pub(crate) struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// How often; the program's output is shown the first time only
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) times: u64,
    /// Replay even though the program is not the one that was recorded
    #[arg(long)]
    pub(crate) force: bool,
    /// Show every operation in the order in which they happened; with =FILE, write that to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) log: Option<Option<PathBuf>>,
    /// Really write to files and sockets what the program writes
    ///
    /// Usually a replay changes nothing outside: what the program writes is compared with what was recorded, and that is
    /// all. What it prints on its standard output is printed. With this, files are written, made and removed, and what it
    /// sends to peers that it connects to is sent. What it reads is from the recording still.
    #[arg(long)]
    pub(crate) really_write: bool,
    /// Show the program's output every time
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print one JSON object per replay; the program's output goes to standard error
    #[arg(long)]
    pub(crate) json: bool,
    /// Where the program is now, if it has moved; arguments after it replace the recorded ones
    #[arg(value_name = "CMD", last = true)]
    pub(crate) command: Vec<OsString>,
}

const REPLAY_HELP: &str = "\
Examples:
  reenact replay bug.reenact                 Once, with the program's output
  reenact replay bug.reenact --times 100     A hundred times
  reenact replay bug.reenact --log           Then show who did what, in order
  reenact replay bug.reenact -- ./app        The program is here now

Exit status: that of the program if it ended as recorded (with --times: 0 if it did so every time);
0 if the recording ends before the program does; 86 if a replay went another way; 125 if reenact
itself failed.";

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    Show(ShowArgs),
    Stats(StatsArgs),
    Check(CheckArgs),
}

/// Print the events of a recording, activity by activity
///
/// An event is an operation that did not go as predicted; those that did are only counted.
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
    /// Only this activity: its place in the family, as in main.0, or the name of its thread
    #[arg(long, value_name = "NAME")]
    pub(crate) activity: Option<String>,
    /// At most so many events of each activity
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
}

/// Say what a recording holds: activities, operations, events, bytes
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
/// Exit status: 0 if all is well, 1 if the recording is damaged, 2 if it could not be read.
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
    /// Which story
    #[arg(value_enum, default_value_t, hide_default_value = true)]
    pub(crate) story: Story,
}

/// The stories of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Story {
    /// Two threads and an account (the default)
    #[default]
    Threads,
    /// Three actors, and a message that comes in between
    Actors,
}

/// Be one of the programs that the demo records.
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
