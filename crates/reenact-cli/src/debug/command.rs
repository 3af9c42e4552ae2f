//! The commands of the debugger and their help.

use std::io::{self, Write};

use reenact_multiverse::{Semantics, breakpoints, steps};

use crate::universe::{BOLD, DIM};

/// What a command does. The steps of the catalogue are commands too, under their own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Break,
    Breakpoints,
    Delete,
    Run,
    Step,
    Steps,
    Universes,
    Universe,
    Show,
    Diff,
    Story,
    Where,
    Ends,
    Ways,
    List,
    Dot,
    Schedule,
    Back,
    Help,
    Quit,
}

/// A command as the user sees it.
pub(super) struct ConsoleCommand {
    pub(super) verb: Verb,
    /// The first name is the one that is shown.
    pub(super) names: &'static [&'static str],
    pub(super) arguments: &'static str,
    pub(super) summary: &'static str,
    /// The part of the help that follows the summary.
    more: &'static str,
}

const fn command(
    verb: Verb,
    names: &'static [&'static str],
    arguments: &'static str,
    summary: &'static str,
    more: &'static str,
) -> ConsoleCommand {
    ConsoleCommand {
        verb,
        names,
        arguments,
        summary,
        more,
    }
}

pub(super) static COMMANDS: [ConsoleCommand; 20] = [
    command(
        Verb::Break,
        &["break", "b"],
        "BREAKPOINT",
        "Set a breakpoint in every universe",
        "\
Usage: break KIND [METHOD] [by ACTIVITY] [to ACTIVITY] [at LINE] [if EXPR]
or:    break line LINE [if EXPR]
or:    break temporal PATTERN [if EXPR], for what has happened so far

  break message-sender                     Before an actor sends a message
  break message-receiver by math           Before math processes a message
  break message-receiver at 11             Before an actor processes a message sent at line 11
  break before-turn double if math.result == 24
  break temporal (message-sender a) after (before-turn b)

A breakpoint takes effect from the current state on; run starts over. Without an argument, break lists the breakpoints.",
    ),
    command(
        Verb::Breakpoints,
        &["breakpoints", "bl"],
        "",
        "List the breakpoints",
        "",
    ),
    command(
        Verb::Delete,
        &["delete", "d"],
        "NUMBER|all",
        "Remove a breakpoint",
        "",
    ),
    command(
        Verb::Run,
        &["run", "r"],
        "",
        "Run the program from its start, in all universes",
        "Each universe runs until it comes to a breakpoint or to an end.",
    ),
    command(
        Verb::Step,
        &["step", "s"],
        "STEP [ACTIVITY] [TIMES] [in UNIVERSE|here]",
        "Take a step in all paused universes, or in one",
        "\
The word step can be omitted. Without an activity, the activities that are stopped take the step.

  next-turn                  To the next message of the stopped activities, in all universes
  next-turn math             To the next message of math
  next-turn math 2           …to the one after it
  next-turn in 3             …in universe 3 only
  resume here                Run the selected universe",
    ),
    command(
        Verb::Steps,
        &["steps"],
        "",
        "List the steps that each activity can take in the selected universe",
        "",
    ),
    command(
        Verb::Universes,
        &["universes", "us"],
        "",
        "List the universes: where they are paused, how they ended",
        "In brackets are the numbers of the universes with the same status.",
    ),
    command(
        Verb::Universe,
        &["universe", "u"],
        "[N]",
        "Select a universe",
        "Without a number, print the status of the selected one.",
    ),
    command(
        Verb::Show,
        &["show", "p", "print"],
        "[EXPR] [in UNIVERSE]",
        "Print the state of the selected universe",
        "\
  show                       All of it
  show math                  An activity
  show math.inbox            Its messages that are not processed yet
  show math.inbox.length > 1
  show math.result in 3      In universe 3",
    ),
    command(
        Verb::Diff,
        &["diff"],
        "[N] M",
        "Compare two universes",
        "With one number, compare the selected universe with it.",
    ),
    command(
        Verb::Story,
        &["story", "t"],
        "[N]",
        "Print the steps that lead to a universe",
        "Your commands are marked with >.",
    ),
    command(
        Verb::Where,
        &["where", "w"],
        "EXPR",
        "Count the universes ahead in which this is true, and print the path to the nearest",
        "\
This searches everything that can happen from the current universes on, ignoring breakpoints.

  where math.result == 66
  where math.inbox.length > 1 && client1 != null
  where contains(client1.printed, \"66\")

Operators: || && == != < <= > >= + - * / % !. Functions: contains(LIST, VALUE), length(VALUE).
A field that does not exist is null.",
    ),
    command(
        Verb::Ends,
        &["ends", "e", "outcomes"],
        "[in UNIVERSE|here|start]",
        "List the outcomes that can be reached",
        "\
This searches every universe that can be reached, ignoring breakpoints.

  ends                       From all current universes
  ends here                  From the selected one
  ends in 3                  From universe 3
  ends start                 From the start of the program",
    ),
    command(
        Verb::Ways,
        &["ways"],
        "[in UNIVERSE|here|start]",
        "The same, with a shortest path to each end",
        "",
    ),
    command(
        Verb::List,
        &["list", "l", "source"],
        "[LINE [LAST]]",
        "Print the source, with breakpoints (*) and the lines where activities are (>)",
        "",
    ),
    command(
        Verb::Dot,
        &["dot"],
        "FILE [ahead]",
        "Write a graph of the session, for Graphviz",
        "\
Paused universes are pink, ends red, your commands dashed. With ahead, draw everything that can happen from the
current universes on instead.

  dot session.dot            Then, in a shell: dot -Tsvg session.dot > session.svg",
    ),
    command(
        Verb::Schedule,
        &["schedule"],
        "FILE [UNIVERSE]",
        "Write the steps that lead to a universe to a file",
        "\
For Rust programs only. To follow the schedule, with the output of the program:

  reenact explore --schedule FILE -- CMD",
    ),
    command(
        Verb::Back,
        &["back"],
        "",
        "Undo the last step",
        "Breakpoints stay as they are.",
    ),
    command(
        Verb::Help,
        &["help", "h", "?"],
        "[COMMAND]",
        "List the commands, or explain a command or a step",
        "",
    ),
    command(Verb::Quit, &["quit", "q", "exit"], "", "Leave", ""),
];

/// Short names for steps.
pub(super) const SHORT_STEPS: [(&str, &str); 6] = [
    ("c", "resume"),
    ("continue", "resume"),
    ("i", "into"),
    ("o", "over"),
    ("n", "next-turn"),
    ("f", "end-of-turn"),
];

/// Returns the command with this name, if there is one.
pub(super) fn find(name: &str) -> Option<&'static ConsoleCommand> {
    COMMANDS.iter().find(|one| one.names.contains(&name))
}

/// Returns the full name of a step, given that or its short name.
pub(super) fn step_called(name: &str) -> &str {
    let short = SHORT_STEPS.iter().find(|(short, _)| *short == name);
    short.map_or(name, |(_, step)| step)
}

/// Returns every word that can begin a line.
pub(super) fn first_words<S: Semantics>(language: &S) -> Vec<&'static str> {
    let commands = COMMANDS.iter().map(|one| one.names[0]);
    commands
        .chain(steps(language).map(|one| one.name))
        .collect()
}

/// Writes the overview of all commands and steps.
pub(super) fn help<S: Semantics>(out: &mut dyn Write, language: &S) -> io::Result<()> {
    writeln!(out, "{BOLD}Commands{BOLD:#}")?;
    for one in &COMMANDS {
        let usage = format!("{} {}", one.names[0], one.arguments);
        let short = match one.names.get(1) {
            Some(short) => format!(" {DIM}({short}){DIM:#}"),
            None => String::new(),
        };
        match usage.len() <= 29 {
            true => writeln!(out, "  {usage:30}{}{short}", one.summary)?,
            false => writeln!(out, "  {usage}\n  {:30}{}{short}", "", one.summary)?,
        }
    }
    help_steps(out, language)?;
    writeln!(
        out,
        "\nFor details, type: help COMMAND. For the kinds of breakpoints: help break. A line that begins with # is a comment."
    )
}

fn help_steps<S: Semantics>(out: &mut dyn Write, language: &S) -> io::Result<()> {
    writeln!(out, "\n{BOLD}Steps{BOLD:#}")?;
    for step in steps(language) {
        let shorts = SHORT_STEPS.iter().filter(|(_, name)| *name == step.name);
        let shorts: Vec<&str> = shorts.map(|(short, _)| *short).collect();
        let short = match shorts.is_empty() {
            true => String::new(),
            false => format!(" {DIM}({}){DIM:#}", shorts.join(", ")),
        };
        writeln!(out, "  {:30}{}{short}", step.name, step.label)?;
    }
    Ok(())
}

/// Writes the help on one command or step. Writes nothing and returns `false` if there is none with this name.
pub(super) fn help_on<S: Semantics>(
    out: &mut dyn Write,
    language: &S,
    name: &str,
) -> io::Result<bool> {
    if let Some(step) = steps(language).find(|step| step.name == step_called(name)) {
        writeln!(
            out,
            "{BOLD}{} [ACTIVITY] [TIMES] [in UNIVERSE|here]{BOLD:#}\n{}",
            step.name, step.label
        )?;
        if !step.at.is_empty() {
            let kinds: Vec<_> = step.at.iter().map(|kind| kind.label()).collect();
            writeln!(out, "The activity must be at a {}.", kinds.join(" or a "))?;
        }
        if step.is_within_turn {
            writeln!(out, "The activity must be in a turn.")?;
        }
        return Ok(true);
    }
    let Some(command) = find(name) else {
        return Ok(false);
    };
    let usage = format!("{} {}", command.names[0], command.arguments);
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}\n{}",
        usage.trim_end(),
        command.summary
    )?;
    if command.names.len() > 1 {
        writeln!(out, "For short: {}", command.names[1..].join(", "))?;
    }
    if !command.more.is_empty() {
        writeln!(out, "\n{}", command.more)?;
    }
    match command.verb {
        Verb::Break => {
            writeln!(out, "\n{BOLD}Kinds{BOLD:#}")?;
            for kind in breakpoints(language) {
                writeln!(out, "  {:30}{}", kind.name, kind.label)?;
            }
        }
        Verb::Step | Verb::Steps => help_steps(out, language)?,
        _ => {}
    }
    Ok(true)
}
