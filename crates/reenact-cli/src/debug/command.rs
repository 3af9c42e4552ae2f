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
pub(super) struct Command {
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
) -> Command {
    Command {
        verb,
        names,
        arguments,
        summary,
        more,
    }
}

pub(super) static COMMANDS: [Command; 20] = [
    command(
        Verb::Break,
        &["break", "b"],
        "BREAKPOINT",
        "Stop there, in every universe",
        "\
In general: break KIND [METHOD] [by ACTIVITY] [to ACTIVITY] [at LINE] [if EXPR]
or:         break line LINE [if EXPR]
or:         break temporal PATTERN [if EXPR], for what has happened so far

  break message-sender                     Who is about to send a message
  break message-receiver by math           math, about to process a message
  break message-receiver at 11             Who is about to process what line 11 has sent
  break before-turn double if math.result == 24
  break temporal (message-sender a) after (before-turn b)

A breakpoint holds for what comes after it; run starts over. Without an argument, the breakpoints are listed.",
    ),
    command(
        Verb::Breakpoints,
        &["breakpoints", "bl"],
        "",
        "The breakpoints, by number",
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
The word step may be left out. Without an activity, it is a step of whoever is stopped in a universe.

  next-turn                  To the next message of whoever is stopped, in all universes
  next-turn math             To the next message of math
  next-turn math 2           …to the one after it
  next-turn in 3             …in universe 3 only
  resume here                Let the selected universe run",
    ),
    command(
        Verb::Steps,
        &["steps"],
        "",
        "What can be done in the selected universe, by activity",
        "",
    ),
    command(
        Verb::Universes,
        &["universes", "us"],
        "",
        "How all universes stand: paused where, ended how",
        "In brackets are the numbers of the universes that stand alike.",
    ),
    command(
        Verb::Universe,
        &["universe", "u"],
        "[N]",
        "Select a universe to look at",
        "Without a number, it says how the selected one stands.",
    ),
    command(
        Verb::Show,
        &["show", "p", "print"],
        "[EXPR] [in UNIVERSE]",
        "What can be seen in the selected universe",
        "\
  show                       All of it
  show math                  An activity
  show math.inbox            What waits to be processed
  show math.inbox.length > 1
  show math.result in 3      In universe 3",
    ),
    command(
        Verb::Diff,
        &["diff"],
        "[N] M",
        "What differs between two universes",
        "With one number, it is the selected universe that is compared with it.",
    ),
    command(
        Verb::Story,
        &["story", "t"],
        "[N]",
        "How a universe came about, step by step",
        "What you asked for is marked with >.",
    ),
    command(
        Verb::Where,
        &["where", "w"],
        "EXPR",
        "In how many universes from here on this is true, and the way to the nearest",
        "\
It looks at everything that can happen from here on, whatever the breakpoints.

  where math.result == 66
  where math.inbox.length > 1 && client1 != null
  where contains(client1.printed, \"66\")

Operators are || && == != < <= > >= + - * / % ! and there are contains(LIST, VALUE) and length(VALUE).
What is not there is null.",
    ),
    command(
        Verb::Ends,
        &["ends", "e", "outcomes"],
        "[in UNIVERSE|here|start]",
        "What can come of the program from here on",
        "\
Every universe that can be reached is looked at, whatever the breakpoints.

  ends                       From all universes of the moment
  ends here                  From the selected one
  ends in 3                  From universe 3
  ends start                 From the start of the program",
    ),
    command(
        Verb::Ways,
        &["ways"],
        "[in UNIVERSE|here|start]",
        "The same, with the shortest way to each end",
        "",
    ),
    command(
        Verb::List,
        &["list", "l", "source"],
        "[LINE [LAST]]",
        "The text of the program, with breakpoints (*) and who stands where (>)",
        "",
    ),
    command(
        Verb::Dot,
        &["dot"],
        "FILE [ahead]",
        "Draw how the universes came about, for Graphviz",
        "\
Paused universes are pink, ends red, what you asked for is dashed. With ahead, it draws all that can happen from
here on instead.

  dot session.dot            Then, in a shell: dot -Tsvg session.dot > session.svg",
    ),
    command(
        Verb::Schedule,
        &["schedule"],
        "FILE [UNIVERSE]",
        "Write the steps that lead to a universe to a file",
        "\
Only of a Rust program, which goes there again, with what it prints, by:

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
        "What can be typed, or more on a command or a step",
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
pub(super) fn find(name: &str) -> Option<&'static Command> {
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
        "\nMore on each: help COMMAND. On what to stop at: help break. A line that begins with # is a comment."
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
            writeln!(out, "The activity has to be at a {}.", kinds.join(" or a "))?;
        }
        if step.is_within_turn {
            writeln!(out, "The activity has to be in a turn.")?;
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
