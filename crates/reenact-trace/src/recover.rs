//! Merging a trace and its live file into one file, after the recorded process has ended.
//!
//! Recording never does this itself at exit: a process may die at any point, so the way that works after a crash is the
//! only way.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
};

use crate::{
    contents::Contents,
    error::{Damage, TraceError},
    layout::{TAIL, kind},
    live::live_path,
    open::{reopen, reopen_to_append},
    program::Exit,
    regroup::regroup,
    section::Section,
    signal::without_file_size_signal,
};

/// Moves the contents of the live file of the trace at `path` into the trace, groups the trace by activity, and removes
/// the live file. Returns false, having done nothing, if there is no live file. If it fails, both files are as readable
/// as before.
///
/// A trace that cannot be grouped, because it is damaged or there is no disk space for a second one beside it, stays in
/// chunks.
///
/// The recorded process must have ended, or have finished recording.
pub fn recover(path: &Path) -> Result<bool, TraceError> {
    let _alone = lock(path);
    let contents = Contents::read(path)?;
    if contents.has_leftover {
        may_append(path, &contents)?;
        may_remove_leftover(path, &contents)?;
    } else if contents.live.is_some() {
        may_append(path, &contents)?;
        if regroup(path, &contents, |sections| {
            end_of_grouped(&contents, sections)
        })
        .is_err()
        {
            append(path, &contents, |file| write_rest(file, &contents))?;
        }
    } else {
        return Ok(false);
    }
    fs::remove_file(live_path(path)).map_err(TraceError::io("cannot remove", live_path(path)))?;
    Ok(true)
}

/// Appends to the trace at `path` how the process ended.
pub fn append_exit(path: &Path, exit: Exit) -> Result<(), TraceError> {
    let contents = Contents::read(path)?;
    may_append(path, &contents)?;
    append(path, &contents, |file| file.write_all(&exit_section(exit)))
}

/// Locks the trace against concurrent recoveries until the file is closed. Does nothing on a file system without locks.
fn lock(path: &Path) -> Option<File> {
    let live = reopen(&live_path(path)).ok()?;
    live.lock().ok()?;
    Some(live)
}

/// Checks that appending loses nothing. Appending truncates the file after its last whole section: an incomplete
/// section that the live file has whole, as a killed writer leaves it, but nothing else.
fn may_append(path: &Path, contents: &Contents) -> Result<(), TraceError> {
    match &contents.obstacle {
        None => Ok(()),
        Some(damage) => Err(TraceError::Damaged {
            path: path.to_owned(),
            damage: damage.clone(),
        }),
    }
}

/// Checks that a live file beside a grouped trace can be removed: it has nothing to add, unless the trace has lost
/// something since.
fn may_remove_leftover(path: &Path, contents: &Contents) -> Result<(), TraceError> {
    let damage = match &contents.damage {
        Some(damage) => damage.clone(),
        None if contents.complete => return Ok(()),
        None => Damage {
            offset: contents.end,
            what: "the end of the trace is missing",
        },
    };
    Err(TraceError::Damaged {
        path: path.to_owned(),
        damage,
    })
}

/// Appends what a trace in chunks lacks from its live file. That may be much, so it is not collected in memory.
fn write_rest(file: &mut impl Write, contents: &Contents) -> io::Result<()> {
    let mut payload = Vec::new();
    for chunk in contents.chunks.iter().filter(|chunk| chunk.in_live) {
        let whole = 0..chunk.section.length;
        chunk.read(&contents.file, contents.live.as_ref(), whole, &mut payload)?;
        // Empty ones too: otherwise their sequence numbers would be missing.
        file.write_all(&chunk.section.to_bytes(&payload))?;
    }
    file.write_all(&stop_section(contents))?;
    let mut tails = Vec::with_capacity(contents.tails.len() * TAIL);
    for tail in &contents.tails {
        for number in [tail.activity, tail.counter, tail.hash] {
            tails.extend_from_slice(&number.to_le_bytes());
        }
    }
    file.write_all(&Section::of(kind::TAILS).to_bytes(&tails))
}

/// Encodes the last sections of a trace that is grouped by activity, after `sections` others. The counters are in its
/// directory.
fn end_of_grouped(contents: &Contents, sections: u64) -> Vec<u8> {
    let mut bytes = stop_section(contents);
    let tails = Section {
        sequence: if contents.version > 2 { sections } else { 0 },
        ..Section::of(kind::TAILS)
    };
    bytes.extend_from_slice(&tails.to_bytes(&[]));
    if let Some(exit) = contents.exit {
        bytes.extend_from_slice(&exit_section(exit));
    }
    bytes
}

/// Encodes why recording ended early; empty if it did not.
fn stop_section(contents: &Contents) -> Vec<u8> {
    let Some(stop) = contents.stop else {
        return Vec::new();
    };
    let (code, errno) = stop.to_code();
    let mut payload = [0; 8];
    payload[..4].copy_from_slice(&code.to_le_bytes());
    payload[4..].copy_from_slice(&errno.to_le_bytes());
    Section::of(kind::STOP).to_bytes(&payload)
}

fn exit_section(exit: Exit) -> Vec<u8> {
    Section::of(kind::EXIT).to_bytes(&exit.to_bytes())
}

/// Writes after the last whole section, over an incomplete one. On failure the incomplete section is gone and nothing
/// else.
fn append(
    path: &Path,
    contents: &Contents,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), TraceError> {
    let completed = || {
        let end = contents.end;
        let file = reopen_to_append(path, &contents.file)?;
        file.set_len(end)?;
        let mut file = BufWriter::with_capacity(1 << 18, file);
        let written = without_file_size_signal(|| {
            write(&mut file)?;
            file.flush()
        });
        // Bytes that are still in the buffer must not be written.
        let (file, _) = file.into_parts();
        written.inspect_err(|_| {
            let _ = file.set_len(end);
        })
    };
    completed().map_err(TraceError::io("cannot complete", path))
}
