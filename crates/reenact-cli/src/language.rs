//! Programs that are debugged in all their universes: from a file to a semantics.
//!
//! This is the only place that knows which languages there are. Everything after it is written for any
//! [`Semantics`], as a [`Task`].

use std::{fs, path::Path};

use reenact_ambient::{Source, amb, at};
use reenact_multiverse::Semantics;

use crate::{
    error::Failure,
    rust_program::{RustProgram, Start},
};

/// How much a step of a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Up to what concerns others.
    Large,
    /// One rule of the language.
    Single,
}

/// What is to be done with a program, whatever its language is.
pub(crate) trait Task {
    type Output;

    fn run<S: Semantics>(self, language: S, source: &Source) -> Self::Output;
}

/// Reads the program in `file` and does `task` with it. The end of the file's name says what language it is in.
pub(crate) fn open<T: Task>(file: &Path, steps: Steps, task: T) -> Result<T::Output, Failure> {
    let language = file.extension().and_then(|end| end.to_str());
    if !matches!(language, Some("at" | "amb")) {
        return Err(Failure::Language { path: file.into() });
    }
    let source = read(file)?;
    let wrong = |error| Failure::not_a_program(&source, &error);
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

/// Starts a Rust program and does `task` with it.
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
