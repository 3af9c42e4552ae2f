//! A replay on other cores than those of the recording.

use std::{os::unix::process::CommandExt, process::Command};

use crate::support::stage::Stage;

/// As under `taskset -c 0`.
fn on_one_core(command: &mut Command) {
    // SAFETY: Between fork and exec, a single system call on a set that is on this stack.
    unsafe {
        command.pre_exec(|| {
            let mut cores: libc::cpu_set_t = std::mem::zeroed();
            // One that we may run on: the lowest.
            if libc::sched_getaffinity(0, size_of_val(&cores), &mut cores) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            let first = (0..libc::CPU_SETSIZE as usize).find(|&core| libc::CPU_ISSET(core, &cores));
            libc::CPU_ZERO(&mut cores);
            libc::CPU_SET(first.unwrap_or(0), &mut cores);
            match libc::sched_setaffinity(0, size_of_val(&cores), &cores) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
}

const PROGRAMS: [&str; 5] = [
    "crowd 20",
    "waves 200 10",
    "poison",
    "statics",
    "foreign-named",
];

#[test]
fn recorded_on_all_cores_and_replayed_on_one() {
    for program in PROGRAMS {
        let stage = Stage::new();
        let recorded = stage.program(program).record();
        let on_one = stage.program(program).with(on_one_core);
        on_one.replay().is_same_as(&recorded);
    }
}

#[test]
fn recorded_on_one_core_and_replayed_on_all() {
    for program in PROGRAMS {
        let stage = Stage::new();
        let recorded = stage.program(program).with(on_one_core).record();
        stage.program(program).replay().is_same_as(&recorded);
    }
}
