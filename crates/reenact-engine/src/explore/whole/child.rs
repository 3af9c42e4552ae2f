//! An execution in a process of its own: it does as it is told, one step after the other.

use std::{
    collections::HashMap,
    io,
    os::unix::net::UnixStream,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

use reenact_multiverse::explore::Links;

use super::{
    WHOLE,
    glance::write_view,
    here::Here,
    wire::{Command, Message, Next, Snapshot, write_failures, write_links},
};
use crate::{
    explore::{
        HERE, World,
        fiber::Pause,
        follow::follow,
        schedule::Schedule,
        strand::{Baton, Strand},
    },
    external::stay_apart,
    raw, seeds, site,
};

/// Those threads that were born and have not begun.
static NEWBORN: Mutex<Option<HashMap<u32, Arc<Baton>>>> = Mutex::new(None);
/// Set when who explores has been told that the program ends.
static IS_TOLD: AtomicU32 = AtomicU32::new(0);

fn newborn<R>(action: impl FnOnce(&mut HashMap<u32, Arc<Baton>>) -> R) -> R {
    let mut newborn = NEWBORN.lock().unwrap_or_else(PoisonError::into_inner);
    action(newborn.get_or_insert_default())
}

/// A thread of the program is born: what lets it run.
pub(in crate::explore) fn strand_of(number: u32) -> Strand {
    let baton = Arc::new(Baton::default());
    newborn(|newborn| newborn.insert(number, Arc::clone(&baton)));
    Strand::Thread(baton)
}

/// A thread that was born will not begin.
pub(in crate::explore) fn end_unborn(number: u32) {
    if let Some(baton) = newborn(|newborn| newborn.remove(&number)) {
        baton.give_back(Pause::Done);
    }
}

/// The calling thread is this activity. Returns when it is its turn.
pub(in crate::explore) fn begin_thread(number: u32) {
    if let Some(whole) = WHOLE.get()
        && let Some(baton) = newborn(|newborn| newborn.remove(&number))
    {
        HERE.set(Arc::as_ptr(&whole.world));
        baton.take();
        OWN.set(Some(baton));
    }
}

/// The calling thread has ended, as far as it is explored.
pub(in crate::explore) fn end_thread() {
    if let Some(baton) = OWN.take() {
        HERE.set(std::ptr::null());
        baton.give_back(Pause::Done);
    }
}

thread_local! {
    /// What lets the calling thread run.
    static OWN: std::cell::RefCell<Option<Arc<Baton>>> = const { std::cell::RefCell::new(None) };
}

/// Who says whose turn it is.
pub(super) enum Control {
    /// Who is at the other end.
    Obey(UnixStream),
    /// A schedule, in a process that nobody else explores.
    Follow(Schedule),
}

/// Starts the thread that lets the others run.
pub(super) fn control(world: Arc<World>, main: Arc<Baton>, control: Control) {
    extern "C" fn at_exit() {
        let Some(whole) = WHOLE.get().filter(|_| !HERE.get().is_null()) else {
            return;
        };
        let own = OWN.take();
        whole.world.exits(own.is_none());
        let own = own.unwrap_or_else(|| Arc::clone(&whole.main));
        HERE.set(std::ptr::null());
        own.give_back(Pause::Done);
        while IS_TOLD.load(SeqCst) == 0 {
            raw::sleep_on(&IS_TOLD, 0);
        }
    }
    // SAFETY: At its exit a program may do anything.
    unsafe { libc::atexit(at_exit) };
    let control = move || {
        stay_apart();
        // Light activities run here.
        seeds::give_to_worker();
        world.begin_whole(main);
        match control {
            Control::Obey(stream) => {
                // Who explores is gone: nobody wants to know any more.
                let _ = obey(&world, stream);
            }
            Control::Follow(schedule) => return follow_here(world, &schedule),
        }
        if !world.is_about_to_end() {
            // SAFETY: It ends the process, whatever its threads do.
            unsafe { libc::_exit(0) };
        }
    };
    let thread = std::thread::Builder::new().name("reenact-explore".to_owned());
    if let Err(error) = thread.spawn(control) {
        eprintln!("reenact: cannot start a thread to explore with: {error}");
        // SAFETY: It ends the process.
        unsafe { libc::_exit(1) };
    }
}

/// Follows a schedule in this process. If nobody can go on in the end, says so, and leaves everybody where it is: somebody may
/// want to look.
fn follow_here(world: Arc<World>, schedule: &Schedule) {
    let here = Here(world);
    let followed = follow(&here, schedule, usize::MAX);
    if let Some(misfit) = &followed.misfit {
        eprintln!("reenact: the schedule does not quite fit the program: {misfit}");
    }
    IS_TOLD.store(1, SeqCst);
    raw::wake_all(&IS_TOLD);
    for failure in &followed.failures {
        eprintln!("reenact: {failure}");
    }
}

fn obey(world: &World, mut stream: UnixStream) -> io::Result<()> {
    let mut reply = Message::default();
    world.snapshot(None).write(&mut reply);
    loop {
        reply.send(&mut stream)?;
        let command = Command::read(&mut Message::receive(&mut stream)?)?;
        reply = Message::default();
        match command {
            Command::Step(step, None) => {
                world.step(step);
                world.snapshot(None).write(&mut reply);
            }
            Command::Step(step, Some(moment)) => {
                let mut links = Links::default();
                let performed = world.step_at(step, moment, &mut links);
                world.snapshot(Some(performed)).write(&mut reply);
                write_links(&mut reply, &links);
            }
            Command::Links(activity) => {
                let mut links = Links::default();
                world.state().links(activity.0, &mut links);
                write_links(&mut reply, &links);
            }
            Command::Refine(granularity) => world.state().refine(granularity),
            Command::Failures => write_failures(&mut reply, &world.state().failures()),
            Command::View => write_view(&mut reply, &world.view()),
            Command::End => {
                IS_TOLD.store(1, SeqCst);
                raw::wake_all(&IS_TOLD);
                return Ok(());
            }
        }
    }
}

impl World {
    /// Begins, with the process's own thread as the first activity.
    fn begin_whole(&self, main: Arc<Baton>) {
        let state = self.state();
        state.is_whole = true;
        state.families.keep_log();
        state.names.keep_log();
        self.begin_with(Strand::Thread(main));
    }

    /// What there is to say when everybody waits.
    fn snapshot(&self, performed: Option<crate::explore::Event>) -> Snapshot {
        let was_too_coarse = self.was_too_coarse();
        let state = self.state();
        let pending = (0..state.activities()).map(|number| {
            Some(Next {
                event: state.pending(number)?.clone(),
                is_enabled: state.is_enabled(number),
                choices: state.choices(number),
                prospect: state.prospect(number),
                message: state.message(number),
            })
        });
        // Who ends the program while the first activity goes on ends all others, too.
        let pending = match state.has_exited {
            true => Vec::new(),
            false => pending.collect(),
        };
        Snapshot {
            pending,
            has_ended: state.main_has_ended,
            births: state.families.take_log(),
            foreign: (state.families.foreign())
                .map(|(number, name)| (number, name.to_owned()))
                .collect(),
            met: state.names.take_log(),
            performed,
            is_deadlock: state.is_deadlock(),
            was_too_coarse,
            learned: state.learned,
            panic: state.panic_of_main(),
            found: match state.wants_labels {
                true => site::news(),
                false => Vec::new(),
            },
            came_of: state.came_of.take(),
        }
    }

    /// The program ends, by its first activity or another.
    fn exits(&self, by_main: bool) {
        let state = self.state();
        state.has_exited |= !by_main;
        state.main_has_ended = true;
    }

    fn is_about_to_end(&self) -> bool {
        self.state().main_has_ended
    }
}
