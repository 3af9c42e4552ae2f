//! The findings of a search, as text and as JSON.
//!
//! `explore` reports everything from the start of the program, `debug` everything from the current universes.

use std::io::{self, Write};

use anstyle::Style;
use reenact_multiverse::{
    Coverage, Expression, Graph, NodeId, Semantics, Story, SummaryEdge, SummaryNode,
    SummaryOutcome, Ways,
};
use serde::Serialize;

use crate::{
    report::counted,
    universe::{BAD, BOLD, NOTE, PathLine, ending_lines, write_story},
};

/// Which paths are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stories {
    /// All of them if there are at most [`FEW`]; otherwise [`FEW`] of those to errors, deadlocks and livelocks.
    Few,
    All,
    None,
}

const FEW: usize = 8;

pub(crate) struct Findings<'a, S: Semantics> {
    graph: &'a Graph<S>,
    /// Each end with a path to it: normal ends, ends with errors, and deadlocks.
    ends: [Vec<SummaryOutcome>; 3],
    /// `None` if the search cannot know.
    livelocks: Option<Vec<LivelockStory>>,
    matches: Vec<Matches>,
}

/// A livelock with the path into it and around it.
#[derive(Serialize)]
struct LivelockStory {
    universes: Vec<NodeId>,
    path: Vec<NodeId>,
    story: Story,
    cycle: Story,
}

/// The universes in which a condition holds, and a shortest path to one of them.
#[derive(Serialize)]
struct Matches {
    condition: String,
    universes: usize,
    path: Option<Vec<NodeId>>,
    story: Option<Story>,
}

impl<'a, S: Semantics> Findings<'a, S> {
    pub(crate) fn of(
        language: &S,
        graph: &'a Graph<S>,
        conditions: &[Expression],
    ) -> Findings<'a, S> {
        let mut ends = [Vec::new(), Vec::new(), Vec::new()];
        for outcome in graph.outcomes(language).0 {
            let which = match &outcome.ending {
                ending if !ending.waits.is_empty() => 2,
                ending if !ending.errors.is_empty() => 1,
                _ => 0,
            };
            let story = graph.story(language, &outcome.path);
            ends[which].push(SummaryOutcome::new(outcome, story));
        }
        let livelocks = graph.livelocks(language).map(|livelocks| {
            let livelocks = livelocks.into_iter().map(|livelock| LivelockStory {
                story: graph.story(language, &livelock.path),
                cycle: graph.story(language, &livelock.cycle),
                universes: livelock.nodes,
                path: livelock.path.nodes,
            });
            livelocks.collect()
        });
        let matches = conditions.iter().map(|condition| {
            let holds = |state: &S::State| condition.holds(&language.observe(state));
            let nearest = graph.nearest(|_, state| holds(state));
            Matches {
                condition: condition.to_string(),
                universes: graph.nodes().filter(|&id| holds(graph.state(id))).count(),
                story: nearest.as_ref().map(|path| graph.story(language, path)),
                path: nearest.map(|path| path.nodes),
            }
        });
        Findings {
            matches: matches.collect(),
            graph,
            ends,
            livelocks,
        }
    }

    /// Whether the program can end with an error or in a deadlock, or run in a livelock.
    pub(crate) fn has_bad_ends(&self) -> bool {
        let [_, errors, deadlocks] = &self.ends;
        let livelocks = self.livelocks.as_ref().map_or(0, Vec::len);
        !errors.is_empty() || !deadlocks.is_empty() || livelocks > 0
    }

    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        name: &str,
        stories: Stories,
    ) -> io::Result<()> {
        self.write_coverage(out, name)?;
        let livelocks = self.livelocks.as_deref().unwrap_or_default();
        let bad = self.ends[1].len() + self.ends[2].len() + livelocks.len();
        let all = self.ends[0].len() + bad;
        // Paths to errors, deadlocks and livelocks are printed in preference to others.
        let mut are_shown = match stories {
            Stories::All => [all, all],
            Stories::None => [0, 0],
            Stories::Few if all <= FEW => [all, all],
            Stories::Few => [0, FEW.min(bad)],
        };
        if self.ends[0].is_empty() {
            let seen = match self.graph.coverage().is_complete() {
                true => "It has no normal end.",
                false => "No normal end was seen.",
            };
            writeln!(out, "\n{BOLD}{seen}{BOLD:#}")?;
        }
        let mut number = 0;
        let headings = [
            ("outcome", "outcomes", BOLD),
            ("uncaught error", "uncaught errors", BAD),
            ("deadlock", "deadlocks", BAD),
        ];
        for ((one, many, style), ends) in headings.into_iter().zip(&self.ends) {
            if ends.is_empty() {
                continue;
            }
            let left = &mut are_shown[usize::from(one != "outcome")];
            heading(out, style, ends.len(), one, many)?;
            for outcome in ends {
                number += 1;
                let is_shown = *left > 0;
                *left -= usize::from(is_shown);
                write_outcome(out, number, style, outcome, is_shown)?;
            }
        }
        if !livelocks.is_empty() {
            heading(out, BAD, livelocks.len(), "livelock", "livelocks")?;
        }
        for livelock in livelocks {
            number += 1;
            let is_shown = are_shown[1] > 0;
            are_shown[1] -= usize::from(is_shown);
            livelock.write(out, number, is_shown)?;
        }
        for matches in &self.matches {
            matches.write(out, self.graph, stories)?;
        }
        if stories == Stories::Few && all > FEW {
            writeln!(out, "\nFor a schedule of each of them: --stories")?;
        }
        Ok(())
    }

    fn write_coverage(&self, out: &mut dyn Write, name: &str) -> io::Result<()> {
        let graph = self.graph;
        let universes = counted(graph.len() as u64, "universe", "universes");
        let steps = counted(graph.edge_count(), "step", "steps");
        writeln!(
            out,
            "{BOLD}{name}{BOLD:#}: {universes}, {steps} between them"
        )?;
        let coverage = graph.coverage();
        let style = match coverage.is_complete() {
            true => Style::new(),
            false => NOTE,
        };
        writeln!(out, "Coverage: {style}{coverage}{style:#}")?;
        if !coverage.is_complete() {
            writeln!(
                out,
                "          {style}there may be other outcomes, deadlocks and errors{style:#}"
            )?;
        }
        if self.livelocks.is_none() {
            writeln!(
                out,
                "          {style}whether there are livelocks is not known{style:#}"
            )?;
        }
        let bytes = graph.bytes_per_state().round() as u64;
        writeln!(
            out,
            "Memory: {} per universe",
            counted(bytes, "byte", "bytes")
        )
    }

    /// Returns the findings as JSON.
    pub(crate) fn json<'s>(
        &'s self,
        program: &'s str,
        language: &S,
        with_graph: bool,
    ) -> impl Serialize + use<'s, 'a, S> {
        let graph = self.graph;
        let (nodes, edges) = with_graph.then(|| graph.nodes_and_edges(language)).unzip();
        FindingsJson {
            program,
            universes: graph.len(),
            steps: graph.edge_count(),
            coverage: graph.coverage(),
            complete: graph.coverage().is_complete(),
            bytes_per_universe: graph.bytes_per_state(),
            outcomes: self.ends.iter().flatten().collect(),
            livelocks: self.livelocks.as_deref(),
            matches: &self.matches,
            nodes,
            edges,
        }
    }
}

fn heading(
    out: &mut dyn Write,
    style: Style,
    count: usize,
    one: &str,
    many: &str,
) -> io::Result<()> {
    let count = counted(count as u64, one, many);
    writeln!(out, "\n{style}{count}{style:#}")
}

fn write_outcome(
    out: &mut dyn Write,
    number: usize,
    style: Style,
    outcome: &SummaryOutcome,
    is_shown: bool,
) -> io::Result<()> {
    let label = format!("{number}.");
    writeln!(out)?;
    for (at, line) in ending_lines(&outcome.ending).iter().enumerate() {
        let label = if at == 0 { label.as_str() } else { "" };
        writeln!(out, "{label:4}{style}{line}{style:#}")?;
    }
    let ends = counted(outcome.ends.len() as u64, "end", "ends");
    let ways = match outcome.ways {
        Ways::Exactly(1) => "in 1 way".to_owned(),
        Ways::Exactly(ways) => format!("in {} ways", grouped(ways)),
        Ways::AtLeast(ways) => format!("in at least {} ways", grouped(ways)),
        Ways::Unbounded => "in any number of ways".to_owned(),
    };
    let steps = counted(outcome.story.0.len() as u64, "step", "steps");
    let colon = if is_shown { ":" } else { "" };
    writeln!(
        out,
        "    {ends}, reached {ways}, the shortest of {steps}{colon}"
    )?;
    match is_shown {
        true => write_story(out, "      ", PathLine::of_story(&outcome.story)),
        false => Ok(()),
    }
}

/// Formats a number with commas between groups of three digits.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

impl LivelockStory {
    fn write(&self, out: &mut dyn Write, number: usize, is_shown: bool) -> io::Result<()> {
        let label = format!("{number}.");
        let universes = counted(self.universes.len() as u64, "universe", "universes");
        writeln!(
            out,
            "\n{label:4}{BAD}{universes} that lead only to each other{BAD:#}"
        )?;
        let steps = counted(self.story.0.len() as u64, "step", "steps");
        let colon = if is_shown { ":" } else { "" };
        writeln!(out, "    The shortest path into it has {steps}{colon}")?;
        if is_shown {
            write_story(out, "      ", PathLine::of_story(&self.story))?;
            writeln!(out, "    Then, again and again:")?;
            write_story(out, "      ", PathLine::of_story(&self.cycle))?;
        }
        Ok(())
    }
}

impl Matches {
    fn write<S: Semantics>(
        &self,
        out: &mut dyn Write,
        graph: &Graph<S>,
        stories: Stories,
    ) -> io::Result<()> {
        let condition = &self.condition;
        writeln!(out, "\n{BOLD}where {condition}{BOLD:#}")?;
        let count = counted(self.universes as u64, "universe", "universes");
        let seen = match graph.coverage().has_every_universe() {
            true => "",
            false => " of those seen",
        };
        let Some(story) = &self.story else {
            return writeln!(out, "    no universe{seen}");
        };
        let steps = counted(story.0.len() as u64, "step", "steps");
        let is_shown = stories != Stories::None;
        let colon = if is_shown { ":" } else { "" };
        writeln!(out, "    {count}{seen}, the nearest after {steps}{colon}")?;
        match is_shown {
            true => write_story(out, "      ", PathLine::of_story(story)),
            false => Ok(()),
        }
    }
}

#[derive(Serialize)]
struct FindingsJson<'a> {
    program: &'a str,
    universes: usize,
    steps: u64,
    coverage: &'a Coverage,
    complete: bool,
    bytes_per_universe: f64,
    outcomes: Vec<&'a SummaryOutcome>,
    /// Null if the search cannot know.
    livelocks: Option<&'a [LivelockStory]>,
    #[serde(rename = "where")]
    matches: &'a [Matches],
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<SummaryNode>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<Vec<SummaryEdge>>,
}
