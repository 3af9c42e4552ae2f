//! Reads lines from a terminal or a script.

use std::{
    env,
    fs::{self, DirBuilder},
    io::{self, BufRead, Read},
    os::unix::fs::DirBuilderExt,
    path::PathBuf,
};

use reenact_multiverse::Semantics;
use rustyline::{CompletionType, Config, Editor, error::ReadlineError, history::DefaultHistory};

use super::{completion::Completion, console::Console};
use crate::error::Error;

/// Maximum length of a line of a script, in bytes.
const LONGEST: u64 = 1 << 20;

pub(super) struct InputLine {
    /// Starts at 1.
    pub(super) number: usize,
    /// Without whitespace around it.
    pub(super) text: String,
}

pub(super) struct Input {
    from: From,
    number: usize,
}

enum From {
    Terminal {
        editor: Box<Editor<Completion, DefaultHistory>>,
        /// The file that keeps the history for the next session, if there can be one.
        history: Option<PathBuf>,
    },
    Script,
}

impl Input {
    pub(super) fn terminal() -> Result<Input, Error> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .auto_add_history(true)
            .build();
        let mut editor = Editor::with_config(config).map_err(terminal_failed)?;
        editor.set_helper(Some(Completion::default()));
        let history = history();
        if let Some(path) = &history {
            // Start with an empty history if it cannot be read.
            let _ = editor.load_history(path);
        }
        Ok(Input {
            from: From::Terminal {
                editor: Box::new(editor),
                history,
            },
            number: 0,
        })
    }

    pub(super) fn script() -> Input {
        Input {
            from: From::Script,
            number: 0,
        }
    }

    pub(super) fn is_script(&self) -> bool {
        matches!(self.from, From::Script)
    }

    /// Returns the next line, or `None` at the end of the input.
    pub(super) fn next<S: Semantics>(
        &mut self,
        console: &Console<S>,
    ) -> Result<Option<InputLine>, Error> {
        self.number += 1;
        let number = self.number;
        let text = match &mut self.from {
            From::Script => read_line(number)?,
            From::Terminal { editor, .. } => {
                if let Some(helper) = editor.helper_mut() {
                    *helper = Completion::of(console.session());
                }
                ask(editor, &console.prompt())?
            }
        };
        Ok(text.map(|text| InputLine {
            number,
            text: text.trim().to_owned(),
        }))
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if let From::Terminal {
            editor,
            history: Some(path),
        } = &mut self.from
        {
            // Losing the history is not worth an error.
            let _ = editor.append_history(path);
        }
    }
}

fn ask(
    editor: &mut Editor<Completion, DefaultHistory>,
    prompt: &str,
) -> Result<Option<String>, Error> {
    loop {
        match editor.readline(prompt) {
            Ok(line) => return Ok(Some(line)),
            Err(ReadlineError::Eof) => return Ok(None),
            // An interrupt discards the line and prompts again.
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => {}
            Err(error) => return Err(terminal_failed(error)),
        }
    }
}

fn terminal_failed(error: ReadlineError) -> Error {
    let error = match error {
        ReadlineError::Io(error) => error,
        error => io::Error::other(error.to_string()),
    };
    Error::Input(error)
}

fn read_line(number: usize) -> Result<Option<String>, Error> {
    let mut bytes = Vec::new();
    let mut input = io::stdin().lock().take(LONGEST);
    input.read_until(b'\n', &mut bytes).map_err(Error::Input)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.len() as u64 == LONGEST {
        return Err(Error::Input(io::Error::other(format!(
            "line {number} is too long"
        ))));
    }
    match String::from_utf8(bytes) {
        Ok(line) => Ok(Some(line)),
        Err(error) => Err(Error::NotText {
            what: format!("line {number} of standard input"),
            at: error.utf8_error().valid_up_to(),
        }),
    }
}

/// Returns the file for the history, after creating its directory if necessary.
fn history() -> Option<PathBuf> {
    let state = match env::var_os("XDG_STATE_HOME").map(PathBuf::from) {
        Some(path) if path.is_absolute() => path,
        _ => env::home_dir()?.join(".local/state"),
    };
    let directory = state.join("reenact");
    if !fs::exists(&directory).ok()? {
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .ok()?;
    }
    Some(directory.join("debug-history"))
}
