//! `reenact explore`: searches everything that a program can do, and reports the outcomes.
//!
//! Without breakpoints this is one search, and prints its [`Findings`]. With breakpoints it is a session of the
//! debugger without a user, see [`paused`].

mod exploration;
mod paused;
mod program;
mod recording;

use std::{
    io::{BufWriter, IsTerminal, Write},
    num::NonZeroUsize,
    ops::ControlFlow,
    thread,
    time::Instant,
};

use reenact_ambient::Source;
use reenact_multiverse::{Bounds, Expression, Graph, Order, Reduction, Search, Semantics};
use reenact_trace::Exit;

use crate::{
    args::ExploreArgs,
    error::Error,
    findings::{Findings, Stories},
    language::{self, LanguageTask},
    report,
    rust_program::Start,
    screen, signals,
};

/// The default bounds, chosen so that a laptop does not run out of memory.
pub(crate) const MAX_STATES: usize = 5_000_000;
pub(crate) const MAX_MEMORY_MB: usize = 2048;
/// Smaller, because a universe takes more memory in the debugger.
pub(crate) const MAX_STATES_IN_DEBUGGER: usize = 1_000_000;

pub(crate) fn run(args: &ExploreArgs) -> Result<Exit, Error> {
    args.check()?;
    let Some(file) = &args.file else {
        return match args.breakpoints.is_empty() {
            true => program::run(args),
            false => run_paused(args),
        };
    };
    if file.extension().is_some_and(|end| end == "reenact") {
        return recording::run(args, file);
    }
    signals::make_interruptible();
    let conditions = conditions(args)?;
    language::open(file, args.single_step, Explore { args, conditions })?
}

/// Runs a Rust program to its breakpoints, in all universes.
fn run_paused(args: &ExploreArgs) -> Result<Exit, Error> {
    signals::make_interruptible();
    let conditions = conditions(args)?;
    let start = Start {
        command: &args.command,
        unlocks: false,
        spurious_wakeups: args.program.spurious_wakeups.unwrap_or(0),
        recording: None,
    };
    language::start(&start, Explore { args, conditions })?
}

fn conditions(args: &ExploreArgs) -> Result<Vec<Expression>, Error> {
    let all = args.conditions.iter().map(|text| {
        Expression::parse(text).map_err(|error| Error::question("--where", text, error, &[]))
    });
    all.collect()
}

struct Explore<'a> {
    args: &'a ExploreArgs,
    conditions: Vec<Expression>,
}

impl LanguageTask for Explore<'_> {
    type Output = Result<Exit, Error>;

    fn run<S: Semantics>(self, language: S, source: &Source) -> Self::Output {
        let Explore { args, conditions } = self;
        if !args.breakpoints.is_empty() {
            return paused::run(args, &conditions, language, source);
        }
        let began = Instant::now();
        let graph = searched(args, &language);
        if std::io::stderr().is_terminal() && !args.json && !args.dot {
            report::note(format_args!("searched for {:.1?}", began.elapsed()));
        }
        if args.dot {
            print(|out| out.write_all(graph.dot(&language).as_bytes()))?;
            return Ok(Exit::Status(0));
        }
        let findings = Findings::of(&language, &graph, &conditions);
        match args.json {
            true => print_json(&findings.json(source.name(), &language, args.graph))?,
            false => print(|out| findings.write(out, source.name(), stories(args)))?,
        }
        let is_complete = graph.coverage().is_complete();
        Ok(status(findings.has_bad_ends(), is_complete))
    }
}

/// The exit status if nothing failed and not everything was explored.
const NOT_EVERYTHING: i32 = 3;

/// Returns how the command ends.
fn status(has_failures: bool, is_complete: bool) -> Exit {
    Exit::Status(match (has_failures, is_complete) {
        (true, _) => 1,
        (false, true) => 0,
        (false, false) => NOT_EVERYTHING,
    })
}

fn stories(args: &ExploreArgs) -> Stories {
    match (args.stories, args.no_stories) {
        (true, _) => Stories::All,
        (_, true) => Stories::None,
        _ => Stories::Few,
    }
}

fn searched<S: Semantics>(args: &ExploreArgs, language: &S) -> Graph<S> {
    let megabytes = args.max_memory.unwrap_or(MAX_MEMORY_MB);
    let bounds = Bounds {
        states: Some(args.bounds.max_states.map_or(MAX_STATES, NonZeroUsize::get)),
        depth: args.max_depth,
        time: args.bounds.max_time,
        bytes: Some(megabytes.saturating_mul(1 << 20)),
    };
    let search = Search::of(language)
        .order(match args.depth_first {
            true => Order::DepthFirst,
            false => Order::BreadthFirst,
        })
        .reduction(match args.reduced {
            true => Reduction::Persistent,
            false => Reduction::None,
        })
        .bounds(bounds);
    run_search(search, args.workers)
}

/// Runs a search on `workers` cores (default: all) until it ends or the user interrupts it.
pub(crate) fn run_search<S: Semantics>(
    search: Search<'_, S>,
    workers: Option<NonZeroUsize>,
) -> Graph<S> {
    let workers = workers.or_else(|| thread::available_parallelism().ok());
    let progress = report::spinner("exploring", "universes");
    let listener = progress.clone();
    let graph = search
        .workers(workers.map_or(1, NonZeroUsize::get))
        .progress(move |now| {
            listener.set_position(now.states as u64);
            match signals::is_interrupted() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })
        .run();
    progress.finish_and_clear();
    graph
}

/// Prints through a buffer, since the output may be long.
fn print(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Error> {
    let mut out = BufWriter::new(screen::stdout());
    write(&mut out)
        .and_then(|()| out.flush())
        .map_err(Error::Output)
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    let text = screen::pretty_json(value);
    print(|out| writeln!(out, "{text}"))
}
