//! How a recording begins: the process gets a trace file of its own.

use std::{
    fs::OpenOptions,
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use reenact_trace::{Program, StopReason, Storage, TraceError, Writer};

use super::{RECORDER, Recorder, environment, of_exit};
use crate::{
    Map,
    activity::{Hot, with_recording},
    captured,
    mode::{self, Mode},
    printed, seeds, withheld,
};

/// Begins recording because the environment says so. If that fails, prints a line on standard error and returns off.
pub(crate) fn start_from_environment(path: &Path) -> Mode {
    match claim(path).and_then(|path| start(&path)) {
        Ok(()) => Mode::Record,
        Err(error) => {
            eprintln!("reenact: {error}: running unrecorded");
            Mode::Off
        }
    }
}

/// Creates the trace file. If it already exists, creates one beside it: `bug.reenact`, `bug.2.reenact`, ….
fn claim(path: &Path) -> Result<PathBuf, TraceError> {
    let mut candidate = path.to_owned();
    let mut number = 1u32;
    loop {
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&candidate)
        {
            Ok(_) => return Ok(candidate),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                number += 1;
                candidate = path.with_extension(match path.extension() {
                    Some(extension) => format!("{number}.{}", extension.to_string_lossy()),
                    None => number.to_string(),
                });
            }
            Err(source) => {
                return Err(TraceError::Io {
                    action: "cannot create",
                    path: candidate,
                    source,
                });
            }
        }
    }
}

/// Sets up the trace. The caller changes the mode.
pub(crate) fn start(path: &Path) -> Result<(), TraceError> {
    let storage = match std::env::var_os("REENACT_DISCARD") {
        Some(_) => Storage::Discard,
        None => Storage::File,
    };
    let mut program = Program::current();
    program.environment = environment::begin(program.environment);
    program.withheld = withheld::list().to_vec();
    let keys = seeds::set_new();
    if !seeds::is_found() {
        eprintln!(
            "reenact: this standard library keeps the seeds of HashMap elsewhere: maps may iterate differently in a replay"
        );
    }
    program
        .environment
        .push((seeds::VARIABLE.into(), seeds::to_text(keys).into()));
    let process = rustix::process::getpid().as_raw_nonzero().to_string();
    program
        .environment
        .push((captured::identity::VARIABLE.into(), process.into()));
    program.environment.push((
        captured::CLOCKS_VARIABLE.into(),
        captured::clocks_now().into(),
    ));
    program
        .environment
        .push((printed::VARIABLE.into(), "1".into()));
    captured::link();
    // The thread that ends the process writes that, even if it has written nothing else. Any other thread that is
    // running then was cut off.
    extern "C" fn at_exit() {
        // A program that has done no operation has nothing to write.
        let is_anybody = RECORDER
            .get()
            .is_some_and(|recorder| recorder.next_number.load(Relaxed) > 0);
        if mode::byte() == Mode::Record as u8 && is_anybody {
            let is_light = Hot::slot().is_some();
            with_recording(|me| {
                if is_light {
                    me.write_end(of_exit);
                }
            });
            crate::activity::leave(true);
            RECORDER
                .get()
                .into_iter()
                .for_each(|recorder| recorder.notes.finish(&recorder.writer));
        }
    }
    let recorder = Arc::new(Recorder {
        writer: Writer::create(path, &program, storage, on_stop)?,
        next_number: AtomicU32::new(0),
        foreign: Mutex::new(Map::default()),
        notes: Default::default(),
    });
    RECORDER
        .set(recorder)
        .map_err(|_| ())
        .expect("recording begins once");
    // SAFETY: The handler does only what a program may do at its exit.
    unsafe { libc::atexit(at_exit) };
    Ok(())
}

fn on_stop(why: StopReason) {
    mode::stop_recording();
    if why == StopReason::Truncated {
        // This is a signal handler: it may not use what the interrupted code has locked.
        const LINE: &[u8] = b"reenact: recording ends here, the program goes on: the live file was truncated while the \
            program was recording\n";
        // SAFETY: The bytes are a constant.
        unsafe { libc::write(libc::STDERR_FILENO, LINE.as_ptr().cast(), LINE.len()) };
        return;
    }
    eprintln!("reenact: recording ends here, the program goes on: {why}");
}
