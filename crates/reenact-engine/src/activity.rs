//! Activities, and how a thread knows which activity it runs.
//!
//! An activity has a number in the trace and a place in the family tree: the n-th child of its parent. Numbers are
//! assigned in the order in which activities appear, so they may differ between two recordings; the place does not, and
//! replay finds an activity's events by it. A thread that did not come through [`Birth`] gets an activity when it first
//! does an operation: the process's first thread is `main`, any other is *foreign*, known by its thread's name and by
//! how many of that name came before it.

mod birth;

use std::{
    any::Any,
    cell::{Cell, RefCell},
    ffi::c_void,
    mem::ManuallyDrop,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use reenact_trace::{Appender, Origin};

pub use self::birth::{Birth, Life, Lineage};
#[cfg(feature = "explore")]
pub(crate) use self::birth::{begin_explored, end_explored};

use crate::{
    ActivitySlot, Ending, Latch, Newborn,
    attempt::Attempting,
    captured::ShiftedClocks,
    controller::{self, Controller},
    external::untracked,
    mode::{self, Mode},
    record::{Me, RecorderState, Recording, token_of},
    replay::fast_path::FastPath,
    seeds,
};

/// An activity under a controller.
#[derive(Debug)]
pub struct ControlledActivity {
    /// The number that the controller gave it.
    pub number: u32,
    /// Its place in the family tree, as in `main.2.0`. Empty for a light activity, of which there may be millions.
    pub family: String,
    /// The name of its thread, or empty.
    pub name: String,
    /// Established when its own code has ended.
    pub ended: Latch,
    /// Data that its controller keeps with it.
    pub(crate) kept: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl ControlledActivity {
    fn new(number: u32, family: String, name: String) -> Arc<ControlledActivity> {
        Arc::new(ControlledActivity {
            number,
            family,
            name,
            ended: Latch::new(),
            kept: OnceLock::new(),
        })
    }
}

/// The state of the current activity that the fast path needs.
pub(crate) struct Hot {
    /// Identifies the activity to objects; never a token that an unused object has.
    pub(crate) token: Cell<u32>,
    /// The counter and hash in the live file; null unless recording.
    pub(crate) word: Cell<*mut u64>,
    /// The operations that a replay may still do without asking; null unless replaying.
    pub(crate) fast_path: Cell<*const FastPath>,
    /// The activity that runs on a fiber, where it is explored; null elsewhere.
    pub(crate) fiber: Cell<*const Controlled>,
    /// The light activity that a worker runs; null if the thread runs its own activity.
    pub(crate) slot: Cell<*const ActivitySlot>,
    /// The recorder state of the thread's own activity, while recording.
    pub(crate) recorder_state: Cell<*mut RecorderState>,
    /// The recorder state of an activity that waits on another thread, while this thread records for it; see
    /// [`crate::meeting`].
    pub(crate) guest: Cell<*mut RecorderState>,
    /// Where the thread appends, as long as it has a recorder state of its own.
    pub(crate) appender: Cell<*mut Appender>,
    /// Whether the thread is a worker of ours: only the light activities that it runs belong to the program.
    pub(crate) is_ours: Cell<bool>,
    /// The counter of the maps that are created on the thread; null if it is neither a worker nor a thread of the
    /// program. See [`crate::seeds`].
    pub(crate) maps: Cell<*mut u64>,
    /// Whether it is in a transaction; see [`crate::attempt`].
    pub(crate) attempting: Cell<Attempting>,
    /// How deeply untracked calls are nested; see [`crate::untracked`].
    pub(crate) untracked: Cell<u32>,
}

impl Hot {
    // One small closure each: a larger one would not be inlined where the compiler considers the path cold.

    #[inline(always)]
    pub(crate) fn token() -> u32 {
        HOT.with(|hot| hot.token.get())
    }

    #[inline(always)]
    pub(crate) fn word() -> *mut u64 {
        HOT.with(|hot| hot.word.get())
    }

    #[inline(always)]
    pub(crate) fn fast_path() -> *const FastPath {
        HOT.with(|hot| hot.fast_path.get())
    }

    #[inline]
    fn fiber() -> *const Controlled {
        HOT.with(|hot| hot.fiber.get())
    }

    #[inline]
    fn guest() -> *mut RecorderState {
        HOT.with(|hot| hot.guest.get())
    }

    /// Returns the light activity that the calling thread runs.
    pub(crate) fn slot<'a>() -> Option<&'a ActivitySlot> {
        // SAFETY: The thread itself sets it while it runs the activity, whose slot exists until the activity ends. The
        // reference does not outlive the operation that asks for it.
        HOT.with(|hot| unsafe { hot.slot.get().as_ref() })
    }
}

/// The token of a thread that has no activity yet.
pub(crate) const NOBODY: u32 = u32::MAX;

/// What a thread knows of the activity it runs.
pub(crate) enum Local {
    Recording(Box<Recording>),
    Controlled(Arc<Controlled>),
}

/// An activity under a controller, as the thread that runs it knows it.
pub(crate) struct Controlled {
    pub(crate) controller: Arc<dyn Controller>,
    pub(crate) activity: Arc<ControlledActivity>,
    /// The generation of the controller that it belongs to.
    generation: u32,
    children: AtomicU64,
    tickets: AtomicU64,
    pub(crate) is_foreign: bool,
    /// Its clocks, where they do not show the real time.
    pub(crate) clocks: ShiftedClocks,
}

thread_local! {
    pub(crate) static HOT: Hot = const { Hot { token: Cell::new(NOBODY), word: Cell::new(std::ptr::null_mut()), fast_path: Cell::new(std::ptr::null()), fiber: Cell::new(std::ptr::null()), slot: Cell::new(std::ptr::null()), recorder_state: Cell::new(std::ptr::null_mut()), guest: Cell::new(std::ptr::null_mut()), appender: Cell::new(std::ptr::null_mut()), is_ours: Cell::new(false), maps: Cell::new(std::ptr::null_mut()), attempting: Cell::new(Attempting::Nothing), untracked: Cell::new(0) } };
    static LOCAL: RefCell<LocalSlot> = const { RefCell::new(ManuallyDrop::new(None)) };
    /// Whether the thread has left its activity.
    static HAS_LEFT: Cell<bool> = const { Cell::new(false) };
}

/// The activity of a thread. It is not destroyed with other thread-locals, whose destructors may do operations: it ends
/// after all of them, see [`install`].
type LocalSlot = ManuallyDrop<Option<Local>>;

/// Ends the activity of the calling thread, which exits or, if it `ends_process`, ends the process.
pub(crate) fn leave(ends_process: bool) {
    let local = LOCAL.with(|slot| slot.try_borrow_mut().ok()?.take());
    HOT.with(clear);
    HAS_LEFT.set(true);
    match local {
        Some(Local::Recording(mut recording)) => recording.leave_thread(ends_process),
        Some(Local::Controlled(controlled)) => {
            let controller = &controlled.controller;
            controller.end(&controlled.activity, Ending::ThreadGone);
        }
        None => {}
    }
}

#[inline]
fn clear(hot: &Hot) {
    hot.token.set(NOBODY);
    hot.word.set(std::ptr::null_mut());
    hot.fast_path.set(std::ptr::null());
    hot.fiber.set(std::ptr::null());
    hot.slot.set(std::ptr::null());
    hot.recorder_state.set(std::ptr::null_mut());
    hot.guest.set(std::ptr::null_mut());
}

/// Makes the calling thread forget which activity it runs, without ending it: for a child made by `fork`, whose memory
/// holds what belongs to its parent.
pub(crate) fn forget() {
    HOT.with(clear);
    LOCAL.with(|slot| {
        if let Ok(mut slot) = slot.try_borrow_mut() {
            std::mem::forget(slot.take());
        }
    });
}

/// Runs `action` with the recording activity that the calling thread runs, registering the thread first if need be.
/// `None` when there is no recording any more.
pub(crate) fn with_recording<R>(action: impl FnOnce(&mut Me<'_>) -> R) -> Option<R> {
    with_thread(|recording| {
        if let Some(slot) = Hot::slot() {
            return slot.with_recorder_state(recording, |mut me| action(&mut me));
        }
        // SAFETY: `Party::impersonate` sets it to the recorder state of an activity that waits until this thread is
        // done with it; see `crate::meeting`.
        if let Some(guest) = unsafe { Hot::guest().as_mut() } {
            return Some(action(&mut recording.light(guest)));
        }
        if !recording.is_registered() {
            if !recording.register(None) {
                return None;
            }
            sit(recording);
        }
        recording.me().map(|mut me| action(&mut me))
    })
}

/// Runs `action` with what the calling thread needs to record. `None` when there is no recording any more.
pub(crate) fn with_thread<R>(action: impl FnOnce(&mut Recording) -> Option<R>) -> Option<R> {
    LOCAL.with(|slot| {
        untracked(|| {
            let mut slot = slot.try_borrow_mut().ok()?;
            if !matches!(&**slot, Some(Local::Recording(_))) {
                let recording = Recording::of_thread()?;
                install(&mut slot, Local::Recording(recording));
            }
            match &mut **slot {
                Some(Local::Recording(recording)) => action(recording),
                _ => None,
            }
        })
    })
}

/// Runs `action` with the controlled activity that the calling thread runs, registering the thread first if need be.
/// Nothing is borrowed while it runs: it may take long, and a signal handler may call this too.
pub(crate) fn with_controlled<R>(action: impl FnOnce(&Controlled) -> R) -> Option<R> {
    // SAFETY: Set only while the fiber runs, and the `Controlled` exists until the execution has ended.
    if let Some(controlled) = unsafe { Hot::fiber().as_ref() } {
        return Some(untracked(|| action(controlled)));
    }
    if let Some(slot) = Hot::slot() {
        let controlled = slot.controlled()?;
        return Some(untracked(|| action(controlled)));
    }
    let controlled = controlled_of_thread()?;
    Some(untracked(|| action(&controlled)))
}

/// Returns the controlled activity of the thread itself, registering the thread first if need be.
fn controlled_of_thread() -> Option<Arc<Controlled>> {
    LOCAL.with(|slot| {
        let mut slot = slot.try_borrow_mut().ok()?;
        if let Some(Local::Controlled(controlled)) = &**slot
            && controlled.generation == controller::generation()
        {
            return Some(Arc::clone(controlled));
        }
        let controlled = Arc::new(untracked(Controlled::unannounced)?);
        install(&mut slot, Local::Controlled(Arc::clone(&controlled)));
        Some(controlled)
    })
}

/// Makes the thread's own activity the one that it runs.
fn sit(recording: &mut Recording) {
    if let Some(me) = recording.me() {
        HOT.with(|hot| {
            hot.token.set(token_of(me.number()));
            hot.word.set(me.recorder_state.word());
            hot.recorder_state.set(me.recorder_state);
            hot.appender.set(me.appender);
        });
        seeds::give_to_thread(me.number());
    }
}

/// Makes the calling thread, a worker, run no activity any more: the last one may not exist any longer.
pub(crate) fn stand_up() {
    HOT.with(clear);
}

/// Runs `action`, which may make the calling thread run other activities, and then restores the current one.
#[inline]
pub(crate) fn aside<R>(action: impl FnOnce() -> R) -> R {
    let (before, untracked) = HOT.with(|hot| {
        let before = (
            hot.token.get(),
            hot.word.get(),
            hot.fast_path.get(),
            hot.slot.get(),
            hot.guest.get(),
            hot.recorder_state.get(),
            hot.fiber.get(),
            hot.attempting.replace(Attempting::Nothing),
        );
        clear(hot);
        (before, hot.untracked.replace(0))
    });
    let maps = seeds::pause();
    let result = action();
    seeds::resume(maps);
    HOT.with(|hot| {
        // SAFETY: The slot of an activity exists until the activity ends, and this thread runs it.
        let slot = unsafe { before.3.as_ref() };
        hot.token.set(before.0);
        // Another activity that met it may have given it a counter meanwhile.
        hot.word.set(slot.map_or(before.1, ActivitySlot::word));
        hot.fast_path.set(before.2);
        hot.slot.set(before.3);
        hot.guest.set(before.4);
        hot.recorder_state.set(before.5);
        hot.fiber.set(before.6);
        hot.attempting.set(before.7);
        hot.untracked.set(untracked);
    });
    result
}

/// Like [`aside`], for an explored activity, of which its thread keeps less state. Inlined: the return from a function
/// after a switch of stacks is mispredicted.
#[cfg(feature = "explore")]
#[inline(always)]
pub(crate) fn aside_explored(action: impl FnOnce()) {
    let (token, fiber, slot, untracked, attempting) = HOT.with(|hot| {
        (
            hot.token.get(),
            hot.fiber.get(),
            hot.slot.get(),
            hot.untracked.replace(0),
            hot.attempting.replace(Attempting::Nothing),
        )
    });
    let maps = seeds::pause();
    action();
    seeds::resume(maps);
    HOT.with(|hot| {
        hot.token.set(token);
        hot.fiber.set(fiber);
        hot.slot.set(slot);
        hot.untracked.set(untracked);
        hot.attempting.set(attempting);
    });
}

/// Makes the calling thread run an activity, until it leaves.
///
/// A thread leaves its activity when it exits. Of the two mechanisms for that, thread-local destructors and those of
/// POSIX keys, the system runs the latter last; so what the former do still belongs to the activity. At the exit of a
/// process neither runs for all threads: see `at_exit` in `record.rs`.
fn install(slot: &mut LocalSlot, mut local: Local) {
    match &mut local {
        Local::Recording(recording) => sit(recording),
        Local::Controlled(controlled) => {
            HOT.with(|hot| {
                clear(hot);
                hot.token.set(token_of(controlled.activity.number));
            });
            seeds::give_to_thread(controlled.activity.number);
        }
    }
    **slot = Some(local);

    extern "C" fn thread_ends(_: *mut c_void) {
        leave(false);
    }
    static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
    let key = KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: `key` is valid for writes, and `thread_ends` may be called at the end of any thread.
        unsafe { libc::pthread_key_create(&mut key, Some(thread_ends)) };
        key
    });
    // SAFETY: The key exists. Its value is not used, but must not be null.
    unsafe { libc::pthread_setspecific(*key, std::ptr::dangling()) };
}

/// Returns the origin and name of a thread that was not announced. A thread that has already left its activity, and
/// only runs destructors, is a different one from what it was before.
pub(crate) fn self_origin() -> (Origin, String) {
    if HAS_LEFT.get() {
        let name = rustix::thread::name().unwrap_or_default();
        return (
            Origin::Foreign,
            format!("{} (ending)", name.to_string_lossy()),
        );
    }
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let is_first = rustix::thread::gettid() == rustix::process::getpid();
    if is_first || controller::is_session_thread() {
        (Origin::Main, name)
    } else {
        (Origin::Foreign, name)
    }
}

#[cfg(feature = "explore")]
impl Controlled {
    /// An explored activity, which the exploration knows by its number.
    pub(crate) fn explored(controller: Arc<dyn Controller>, number: u32, name: &str) -> Controlled {
        Controlled::of(
            controller,
            0,
            ControlledActivity::new(number, String::new(), name.to_owned()),
        )
    }

    /// Reuses it for the activity of the same number and name in another execution, if there are no other references to
    /// it. Returns whether it could.
    pub(crate) fn be_again(&mut self, name: &str) -> bool {
        let has_name = !self.activity.name.is_empty() || !name.is_empty();
        if Arc::strong_count(&self.activity) > 1 || has_name && self.activity.name != name {
            return false;
        }
        self.activity.ended.forget();
        *self.children.get_mut() = 0;
        *self.tickets.get_mut() = 0;
        self.clocks = Default::default();
        true
    }
}

impl Controlled {
    fn of(
        controller: Arc<dyn Controller>,
        generation: u32,
        activity: Arc<ControlledActivity>,
    ) -> Controlled {
        Controlled {
            controller,
            activity,
            generation,
            children: AtomicU64::new(0),
            tickets: AtomicU64::new(0),
            is_foreign: false,
            clocks: Default::default(),
        }
    }

    fn unannounced() -> Option<Controlled> {
        let (origin, name) = self_origin();
        Controlled::register(origin, None, name)
    }

    fn register(
        origin: Origin,
        parent: Option<(&ControlledActivity, u64)>,
        name: String,
    ) -> Option<Controlled> {
        let (controller, generation) = controller::current()?;
        let number = controller.born(Newborn::Thread {
            origin,
            index: parent.map_or(0, |(_, index)| index),
            name: &name,
        });
        let family = match (origin, parent) {
            (_, Some((parent, index))) => format!("{}.{index}", parent.family),
            (Origin::Main, _) => "main".to_owned(),
            _ if name.is_empty() => "foreign".to_owned(),
            _ => format!("foreign({name})"),
        };
        let activity = ControlledActivity::new(number, family, name);
        let mut controlled = Controlled::of(controller, generation, activity);
        controlled.is_foreign = origin == Origin::Foreign;
        Some(controlled)
    }

    /// Registers a light child of this activity and returns its number.
    pub(crate) fn light_child(&self) -> u32 {
        self.controller.born(Newborn::Light(&self.activity))
    }

    /// The light activity with this number, which is about to run for the first time.
    pub(crate) fn light(number: u32, first: u32) -> Option<Controlled> {
        let (controller, generation) = controller::current()?;
        let activity = ControlledActivity::new(number, String::new(), String::new());
        controller.begin(&activity, Some(first));
        Some(Controlled::of(controller, generation, activity))
    }

    fn child(&self, name: &str) -> Option<Controlled> {
        let index = self.children.fetch_add(1, Relaxed);
        let origin = Origin::Child(self.activity.number);
        Controlled::register(origin, Some((&self.activity, index)), name.to_owned())
    }
}

/// Returns whether operations are recorded or controlled. If not, a model may use what is fastest.
pub fn is_active() -> bool {
    mode::settled() != Mode::Off
}

/// Returns the number of the activity that the calling thread runs, registering it if need be; `None` when off.
pub fn current_number() -> Option<u32> {
    match mode::settled() {
        Mode::Record => with_recording(|me| me.number()),
        Mode::Replay | Mode::Controlled => with_controlled(|controlled| controlled.activity.number),
        _ => None,
    }
}

/// Returns whether the calling thread runs an activity that was not announced.
pub(crate) fn current_is_foreign() -> bool {
    match mode::settled() {
        Mode::Record => with_recording(|me| me.recorder_state.is_foreign()),
        Mode::Replay | Mode::Controlled => with_controlled(|me| me.is_foreign),
        _ => None,
    }
    .unwrap_or(true)
}

/// Returns the token of the current activity, as the sender of a message.
#[inline(always)]
pub fn sender() -> u32 {
    let token = Hot::token();
    if token != NOBODY || mode::byte() == Mode::Off as u8 {
        return token;
    }
    registered_sender()
}

#[cold]
fn registered_sender() -> u32 {
    // Asking for the number registers the activity.
    current_number().map_or(NOBODY, token_of)
}

/// Identifies a message that is sent to a promise among those of the same sender.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    pub(crate) sender: u32,
    pub(crate) number: u64,
}

impl Ticket {
    /// Draws a ticket for a message that is sent now.
    pub fn draw() -> Ticket {
        let number = match mode::settled() {
            Mode::Record => with_recording(|me| me.ticket()),
            Mode::Replay | Mode::Controlled => {
                with_controlled(|me| me.tickets.fetch_add(1, Relaxed))
            }
            _ => None,
        };
        match number {
            Some(number) => Ticket {
                sender: sender(),
                number,
            },
            None => Ticket {
                sender: 0,
                number: 0,
            },
        }
    }
}
