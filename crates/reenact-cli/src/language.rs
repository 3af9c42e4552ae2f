//! Programs that are debugged in all their universes: opens a file as a [`Semantics`].
//!
//! This is the only module that knows the languages. The commands are written for any [`Semantics`], as a [`Task`].

use std::{fs, path::Path};

use reenact_ambient::{Source, amb, at};
use reenact_multiverse::Semantics;

use crate::{
    error::Failure,
    rust_program::{RustProgram, Start},
};

/// The size of a step of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Up to the next action that is visible to other activities.
    Large,
    /// One rule of the language.
    Single,
}

/// What to do with a program, independent of its language.
pub(crate) trait Task {
    type Output;

    fn run<S: Semantics>(self, language: S, source: &Source) -> Self::Output;
}

/// Reads the program in `file` and runs `task` with it. The file's extension determines the language.
pub(crate) fn open<T: Task>(file: &Path, steps: Steps, task: T) -> Result<T::Output, Failure> {
    let language = file.extension().and_then(|end| end.to_str());
    if !matches!(language, Some("at" | "amb")) {
        return Err(Failure::Language { path: file.into() });
    }
    let source = read(file)?;
    let wrong = |error| Failure::not_a_program(&source, error);
    if language == Some("amb") {
        let program = amb::Program::new(&source).map_err(wrong)?;
        return Ok(task.run(program, &source));
    }
    let granularity = match steps {
        Steps::Large => at::Granularity::Macro,
        Steps::Single => at::Granularity::Single,
    };
    let program = at::Program::new(source.clone()).map_err(wrong)?;
    Ok(task.run(program.with_granularity(granularity), &source))
}

/// Starts a Rust program and runs `task` with it.
pub(crate) fn start<T: Task>(start: &Start<'_>, task: T) -> Result<T::Output, Failure> {
    let (program, source) = RustProgram::start(start)?;
    Ok(task.run(program, &source))
}

fn read(file: &Path) -> Result<Source, Failure> {
    let bytes = fs::read(file).map_err(|error| Failure::Program {
        path: file.into(),
        error,
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(file.display().to_string(), text)),
        Err(error) => Err(Failure::NotText {
            what: file.display().to_string(),
            at: error.utf8_error().valid_up_to(),
        }),
    }
}
