//! What the kernel says about the other threads of this process: whether they run, and for how long they have run.
//!
//! Neither the engine nor a clock can tell a thread that waits from one that wants to run and gets no processor. The
//! kernel can.

use std::{fs, path::PathBuf, time::Duration};

use rustix::time::ClockId;

/// What threads other than the calling one have done so far.
#[derive(Clone, Copy)]
pub(crate) struct Moves {
    /// How often they started or stopped running.
    switches: i64,
    /// How long they ran.
    ran: Duration,
}

impl Moves {
    pub(crate) fn of_others() -> Moves {
        let ran = |clock| {
            let time = rustix::time::clock_gettime(clock);
            Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
        };
        Moves {
            switches: switches_of_others(),
            ran: ran(ClockId::ProcessCPUTime).saturating_sub(ran(ClockId::ThreadCPUTime)),
        }
    }

    /// Returns for how long they have run since then.
    pub(crate) fn ran_since(self, before: Moves) -> Duration {
        self.ran.saturating_sub(before.ran)
    }

    /// Whether they seem not to have moved since then. The running time is needed because a thread that runs all the
    /// time is not switched. A thread that has ended since then is not seen.
    pub(crate) fn is_close_to(self, before: Moves) -> bool {
        self.switches == before.switches && self.ran.abs_diff(before.ran) < Duration::from_millis(1)
    }
}

/// Returns how often threads other than the calling one have been switched.
fn switches_of_others() -> i64 {
    let switches = |of| {
        // SAFETY: `usage` is a valid place for the result, which consists of plain numbers.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(of, &mut usage);
            usage
        };
        usage.ru_nvcsw + usage.ru_nivcsw
    };
    loop {
        let own = switches(libc::RUSAGE_THREAD);
        let all = switches(libc::RUSAGE_SELF);
        // A switch of this thread in between would be counted as one of another thread.
        if switches(libc::RUSAGE_THREAD) == own {
            return all - own;
        }
    }
}

/// A thread of this process.
pub(crate) struct Thread(PathBuf);

/// Returns all threads but the calling one; `None` if the kernel does not list all of them.
pub(crate) fn others() -> Option<impl Iterator<Item = Thread>> {
    let me = rustix::thread::gettid().as_raw_nonzero().to_string();
    let threads: Vec<_> = fs::read_dir("/proc/self/task").ok()?.flatten().collect();
    // Long lists are read in parts. If threads start or end meanwhile, some may be missing.
    if Some(threads.len()) != count() {
        return None;
    }
    let others = threads
        .into_iter()
        .filter(move |thread| thread.file_name() != *me);
    Some(others.map(|thread| Thread(thread.path())))
}

/// Returns the number of threads.
fn count() -> Option<usize> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The 18th field after the name.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    fields.nth(17)?.parse().ok()
}

/// Whether a thread other than the calling one runs, or would if it had a processor and nobody had stopped it.
pub(crate) fn somebody_could_run() -> bool {
    // If the list is incomplete, somebody has just started or ended.
    others().is_none_or(|mut others| {
        others.any(|thread| matches!(thread.state(), Some('R' | 'D' | 'T' | 't')))
    })
}

/// How long threads have had to do something.
///
/// Time passes as on the clock while they wait for something, but only as fast as they get processors while one of them
/// wants to run. So it passes for those that run all the time, and hardly on a machine that is too busy.
pub(crate) struct OwnTime(Moves);

impl OwnTime {
    pub(crate) fn starts() -> OwnTime {
        OwnTime(Moves::of_others())
    }

    /// Returns how much has passed since the last call, given what has passed on the clock.
    pub(crate) fn passed(&mut self, on_clock: Duration) -> Duration {
        let now = Moves::of_others();
        let ran = now.ran_since(std::mem::replace(&mut self.0, now));
        match somebody_could_run() {
            true => ran.min(on_clock),
            false => on_clock,
        }
    }
}

/// A thread that sleeps, and how often it has been switched so far.
#[derive(PartialEq)]
pub(crate) struct Sleeping {
    thread: PathBuf,
    switches: u64,
}

/// A system call.
pub(crate) struct SystemCall {
    pub(crate) number: libc::c_long,
    pub(crate) arguments: [usize; 6],
}

impl Thread {
    /// The thread with this `/proc` directory.
    #[cfg(test)]
    pub(crate) fn at(place: &std::path::Path) -> Thread {
        Thread(place.to_owned())
    }

    /// Returns the state of this thread, as the kernel abbreviates it; `None` if it is gone.
    fn state(&self) -> Option<char> {
        let stat = fs::read_to_string(self.0.join("stat")).ok()?;
        // The state follows the name, which is in parentheses and may contain some.
        stat.rsplit_once(')')?.1.trim_start().chars().next()
    }

    /// Returns this thread if it sleeps in a system call that `is_endless`, or has ended. If this is called twice and the results are
    /// equal, the thread has slept all the time from the end of the first call to the beginning of the second.
    ///
    /// A thread that runs in between is switched before it sleeps again. That alone is not enough, because it is
    /// counted late: a thread that goes to sleep is first shown as sleeping, then counted, then gone. The kernel shows
    /// the system call only of threads that are gone, so the count is read after it. Nor is the system call enough:
    /// from when another processor wakes a thread until it is put into a run queue (the kernel's `TASK_WAKING`, which
    /// lasts as long as an interrupt takes to arrive), it is still shown in the call in which it slept. So the state is
    /// read before it.
    pub(crate) fn sleeping(self, is_endless: impl Fn(&SystemCall) -> bool) -> Option<Sleeping> {
        match self.state()? {
            'S' if is_endless(&self.system_call()?) => {}
            // The main thread has ended before the others.
            'Z' => {}
            _ => return None,
        }
        let status = fs::read_to_string(self.0.join("status")).ok()?;
        let field = |name| {
            let mut lines = status.lines();
            lines.find_map(|line| Some(line.strip_prefix(name)?.trim()))
        };
        let count = |name| field(name)?.parse::<u64>().ok();
        if !field("State:")?.starts_with(['S', 'Z']) {
            return None;
        }
        let switches = count("voluntary_ctxt_switches:")? + count("nonvoluntary_ctxt_switches:")?;
        Some(Sleeping {
            thread: self.0,
            switches,
        })
    }

    /// Returns the system call in which this thread sleeps; `None` if the kernel does not say.
    fn system_call(&self) -> Option<SystemCall> {
        let text = fs::read_to_string(self.0.join("syscall")).ok()?;
        let mut fields = text.split_whitespace();
        let number = fields.next()?.parse().ok()?;
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = usize::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(SystemCall { number, arguments })
    }
}

/// Whether other processes may share the memory at this address.
pub(crate) fn is_shared(address: usize) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines()
        .any(|line| is_shared_in(line, address) == Some(true))
}

/// Returns whether this line of the memory map is about the address, and about shared memory.
fn is_shared_in(line: &str, address: usize) -> Option<bool> {
    let (range, rest) = line.split_once(' ')?;
    let (first, end) = range.split_once('-')?;
    let number = |digits| usize::from_str_radix(digits, 16).ok();
    Some((number(first)?..number(end)?).contains(&address) && rest.as_bytes().get(3) == Some(&b's'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_known_from_the_map() {
        let shared = "7f00aa000000-7f00aa001000 rw-s 00000000 00:01 1041 /dev/zero (deleted)";
        assert_eq!(is_shared_in(shared, 0x7f00_aa00_0010), Some(true));
        assert_eq!(is_shared_in(shared, 0x7f00_aa00_1000), Some(false));
        let private = shared.replace("rw-s", "rw-p");
        assert_eq!(is_shared_in(&private, 0x7f00_aa00_0010), Some(false));
    }

    #[test]
    fn all_threads_are_listed() {
        std::thread::scope(|scope| {
            let (end, until) = std::sync::mpsc::channel::<()>();
            let (started, has_started) = std::sync::mpsc::channel();
            scope.spawn(move || {
                started.send(rustix::thread::gettid()).unwrap();
                let _ = until.recv();
            });
            let thread = has_started.recv().unwrap().as_raw_nonzero().to_string();
            // Other tests may start threads, or end some.
            let all = std::iter::repeat_with(others).flatten().next().unwrap();
            let mut names = all.map(|thread| thread.0.file_name().unwrap().to_owned());
            assert!(names.any(|name| name == *thread));
            drop(end);
        });
    }
}
