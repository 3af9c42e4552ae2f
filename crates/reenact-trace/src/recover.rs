//! Making one file of a trace and its live file, after the recorded process has ended.
//!
//! Recording never does this itself on the way out: a process may die at any point, so the way that works after
//! a crash is the only way.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::FileExt,
    path::Path,
};

use crate::{
    contents::Contents,
    error::TraceError,
    layout::{TAIL, kind},
    live::live_path,
    program::Exit,
    section::Section,
    signal::without_file_size_signal,
};

/// Moves what the live file of the trace at `path` holds into the trace, and removes it. Does nothing, and says
/// so with `false`, if there is no live file. If it fails, both files are as readable as before.
///
/// The recorded process must have ended, or have finished recording.
pub fn recover(path: &Path) -> Result<bool, TraceError> {
    let contents = Contents::read(path)?;
    let Some(live) = &contents.live else {
        return Ok(false);
    };
    may_append(path, &contents)?;
    let mut bytes = Vec::new();
    for chunk in contents.chunks.iter().filter(|chunk| chunk.in_live) {
        let mut payload = vec![0; chunk.section.length as usize];
        live.read_exact_at(&mut payload, chunk.offset)
            .map_err(TraceError::io("cannot read", live_path(path)))?;
        // Empty ones too: their numbers would be missing.
        bytes.extend_from_slice(&chunk.section.to_bytes(&payload));
    }
    if let Some(stop) = contents.stop {
        let (code, errno) = stop.to_code();
        let mut payload = [0; 8];
        payload[..4].copy_from_slice(&code.to_le_bytes());
        payload[4..].copy_from_slice(&errno.to_le_bytes());
        bytes.extend_from_slice(&section(kind::STOP).to_bytes(&payload));
    }
    let mut tails = Vec::with_capacity(contents.tails.len() * TAIL);
    for (activity, (counter, hash)) in &contents.tails {
        for number in [activity, counter, hash] {
            tails.extend_from_slice(&number.to_le_bytes());
        }
    }
    bytes.extend_from_slice(&section(kind::TAILS).to_bytes(&tails));

    append(path, contents.end, &bytes).map_err(TraceError::io("cannot complete", path))?;
    fs::remove_file(live_path(path)).map_err(TraceError::io("cannot remove", live_path(path)))?;
    Ok(true)
}

/// Adds to the trace at `path` how the process ended.
pub fn append_exit(path: &Path, exit: Exit) -> Result<(), TraceError> {
    let contents = Contents::read(path)?;
    may_append(path, &contents)?;
    append(
        path,
        contents.end,
        &section(kind::EXIT).to_bytes(&exit.to_bytes()),
    )
    .map_err(TraceError::io("cannot complete", path))
}

/// Adding to a file cuts off what is behind its last whole section. That may be half of one that the live file has
/// whole, as a killed writer leaves it, but nothing else.
fn may_append(path: &Path, contents: &Contents) -> Result<(), TraceError> {
    match &contents.obstacle {
        None => Ok(()),
        Some(damage) => Err(TraceError::Damaged {
            path: path.to_owned(),
            damage: damage.clone(),
        }),
    }
}

fn section(kind: u8) -> Section {
    Section {
        kind,
        ..Section::default()
    }
}

/// Writes `bytes` after the last whole section, over whatever half of one is there. On failure that half is gone
/// and nothing else.
fn append(path: &Path, end: u64, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.set_len(end)?;
    without_file_size_signal(|| file.write_all(bytes)).inspect_err(|_| {
        let _ = file.set_len(end);
    })
}
