//! Which options of `explore` apply to what.

use super::ExploreArgs;
use crate::error::Error;

/// What is explored, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Program,
    PausedProgram,
    Recording,
    Model,
    PausedModel,
}

use Subject::{Model, PausedModel, PausedProgram, Program, Recording};

impl Subject {
    fn of(args: &ExploreArgs) -> Subject {
        let is_paused = !args.breakpoints.is_empty();
        let is_recording = |file: &std::path::PathBuf| {
            file.extension()
                .is_some_and(|extension| extension == "reenact")
        };
        match (&args.file, is_paused) {
            (Some(file), _) if is_recording(file) => Recording,
            (Some(_), false) => Model,
            (Some(_), true) => PausedModel,
            (None, false) => Program,
            (None, true) => PausedProgram,
        }
    }

    fn description(self) -> &'static str {
        match self {
            Program => "a Rust program (-- CMD)",
            PausedProgram => "a Rust program with --break",
            Recording => "a recording (FILE.reenact)",
            Model => "a program in AmbientTalk or λ_amb",
            PausedModel => "a program in AmbientTalk or λ_amb with --break",
        }
    }
}

impl ExploreArgs {
    /// Checks that every option that is given applies to what is explored.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let subject = Subject::of(self);
        for (option, is_given, subjects) in self.options() {
            if is_given && !subjects.contains(&subject) {
                let others = subjects.iter().map(|other| other.description());
                return Err(Error::Inapplicable {
                    option,
                    subject: subject.description(),
                    others: others.collect::<Vec<_>>().join(", or "),
                });
            }
        }
        Ok(())
    }

    /// The options that do not apply to everything: whether they are given, and to what they apply.
    fn options(&self) -> [(&'static str, bool, &'static [Subject]); 27] {
        let options = &self.program;
        [
            ("--strategy", options.strategy.is_some(), &[Program]),
            (
                "--executions",
                options.executions.is_some(),
                &[Program, Recording],
            ),
            (
                "--max-steps",
                options.max_steps.is_some(),
                &[Program, Recording],
            ),
            ("--seed", options.seed.is_some(), &[Program]),
            ("--cores", options.cores.is_some(), &[Program]),
            ("--schedule", options.schedule.is_some(), &[Program]),
            ("--output", options.output.is_some(), &[Program, Recording]),
            (
                "--allow-blocked",
                options.allow_blocked,
                &[Program, Recording],
            ),
            (
                "--spurious-wakeups",
                options.spurious_wakeups.is_some(),
                &[Program, PausedProgram],
            ),
            ("--from", options.from.is_some(), &[Recording]),
            ("--near", options.near.is_some(), &[Recording]),
            ("--other-outcomes", options.other_outcomes, &[Recording]),
            ("--force", options.force, &[Recording]),
            ("--trust", options.trust, &[Recording]),
            (
                "--break",
                !self.breakpoints.is_empty(),
                &[PausedProgram, PausedModel],
            ),
            (
                "--where",
                !self.conditions.is_empty(),
                &[Model, PausedModel, PausedProgram],
            ),
            ("--dot", self.dot, &[Model, PausedModel, PausedProgram]),
            (
                "--max-states",
                self.bounds.max_states.is_some(),
                &[Model, PausedModel, PausedProgram],
            ),
            ("--single-step", self.single_step, &[Model, PausedModel]),
            ("--graph", self.graph, &[Model]),
            ("--reduced", self.reduced, &[Model]),
            ("--depth-first", self.depth_first, &[Model]),
            ("--workers", self.workers.is_some(), &[Model]),
            ("--max-depth", self.max_depth.is_some(), &[Model]),
            ("--max-memory", self.max_memory.is_some(), &[Model]),
            ("--stories", self.stories, &[Model]),
            ("--no-stories", self.no_stories, &[Model]),
        ]
    }
}
