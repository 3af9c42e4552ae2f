//! Programs that are debugged in all their universes: opens a file as a [`Semantics`].
//!
//! This is the only module that knows the languages. The commands are written for any [`Semantics`], as a [`LanguageTask`].

use std::{fs, path::Path};

use reenact_ambient::{Source, amb, at};
use reenact_multiverse::{Semantics, StepSize};

use crate::{
    error::Error,
    rust_program::{RustProgram, Start},
};

/// What to do with a program, independent of its language.
pub(crate) trait LanguageTask {
    type Output;

    fn run<S: Semantics>(self, language: S, source: &Source) -> Self::Output;
}

/// Reads the program in `file` and runs `task` with it. The file's extension determines the language. A step is one rule
/// of the language if `single_step`, otherwise all up to the next action that is visible to other activities.
pub(crate) fn open<T: LanguageTask>(
    file: &Path,
    single_step: bool,
    task: T,
) -> Result<T::Output, Error> {
    let language = file.extension().and_then(|end| end.to_str());
    if !matches!(language, Some("at" | "amb")) {
        return Err(Error::Language { path: file.into() });
    }
    let source = read(file)?;
    let wrong = |error| Error::not_a_program(&source, error);
    if language == Some("amb") {
        let program = amb::Program::new(&source).map_err(wrong)?;
        return Ok(task.run(program, &source));
    }
    let step_size = match single_step {
        true => StepSize::Rule,
        false => StepSize::Macro,
    };
    let program = at::Program::new(source.clone()).map_err(wrong)?;
    Ok(task.run(program.with_step_size(step_size), &source))
}

/// Starts a Rust program and runs `task` with it.
pub(crate) fn start<T: LanguageTask>(start: &Start<'_>, task: T) -> Result<T::Output, Error> {
    let (program, source) = RustProgram::start(start)?;
    Ok(task.run(program, &source))
}

fn read(file: &Path) -> Result<Source, Error> {
    let bytes = fs::read(file).map_err(|error| Error::Program {
        path: file.into(),
        error,
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(file.display().to_string(), text)),
        Err(error) => Err(Error::NotText {
            what: file.display().to_string(),
            at: error.utf8_error().valid_up_to(),
        }),
    }
}
