//! Activities: who does operations, and how a thread knows which one it is.
//!
//! An activity has a number in the trace and a place in the family tree: the n-th child of its parent. The number
//! is handed out as activities come, so it may differ between two recordings; the place does not, and replay finds
//! an activity's events by it. A thread that did not come through [`Birth`] gets an activity when it first does
//! an operation: the process's first thread is `main`, any other is *foreign*, known by its thread's name and by how
//! many of that name came before it.

use std::{
    cell::{Cell, RefCell},
    ffi::c_void,
    mem::ManuallyDrop,
    rc::Rc,
    sync::{Arc, OnceLock},
};

use reenact_trace::Origin;

use crate::{
    Fact,
    conduct::{self, Conductor},
    mode::{self, Mode},
    record::{Recording, token_of},
    replay::quiet::Quiet,
};

/// An activity under a conductor.
#[derive(Debug)]
pub struct Activity {
    /// The number that the conductor gave it.
    pub number: u32,
    /// Its place in the family tree, as in `main.2.0`.
    pub family: String,
    /// The name of its thread, or empty.
    pub name: String,
    /// That its own code has ended.
    pub ended: Fact,
}

/// What the fast path needs of the current activity.
pub(crate) struct Hot {
    /// Who holds it is known by this; never a token that an entity has when nobody used it.
    pub(crate) token: Cell<u32>,
    /// The counter and hash in the live file; null unless recording.
    pub(crate) word: Cell<*mut u64>,
    /// What a replay has left to do without asking; null unless replaying.
    pub(crate) quiet: Cell<*const Quiet>,
}

impl Hot {
    // One small closure each: a larger one would not be inlined where the compiler has been told that it is cold.

    #[inline(always)]
    pub(crate) fn token() -> u32 {
        HOT.with(|hot| hot.token.get())
    }

    #[inline(always)]
    pub(crate) fn word() -> *mut u64 {
        HOT.with(|hot| hot.word.get())
    }

    #[inline(always)]
    pub(crate) fn quiet() -> *const Quiet {
        HOT.with(|hot| hot.quiet.get())
    }
}

/// The token of a thread that has no activity yet.
pub(crate) const NOBODY: u32 = u32::MAX;

/// What a thread knows of the activity it runs.
pub(crate) enum Local {
    Recording(Box<Recording>),
    Conducted(Rc<Conducted>),
}

pub(crate) struct Conducted {
    pub(crate) conductor: Arc<dyn Conductor>,
    pub(crate) activity: Arc<Activity>,
    /// Which of the conductors that this process had it belongs to.
    generation: u32,
    children: Cell<u64>,
}

thread_local! {
    pub(crate) static HOT: Hot = const { Hot { token: Cell::new(NOBODY), word: Cell::new(std::ptr::null_mut()), quiet: Cell::new(std::ptr::null()) } };
    static LOCAL: RefCell<Slot> = const { RefCell::new(ManuallyDrop::new(None)) };
    /// Whether the thread has left its activity.
    static HAS_LEFT: Cell<bool> = const { Cell::new(false) };
}

/// The activity of a thread. It is not destroyed with other thread-locals, some of which may have operations to do when
/// they are: it ends after all of them, see [`install`].
type Slot = ManuallyDrop<Option<Local>>;

/// The calling thread goes, or ends the process: what it ran ends here.
pub(crate) fn leave() {
    let local = LOCAL.with(|slot| slot.try_borrow_mut().ok()?.take());
    HOT.with(clear);
    HAS_LEFT.set(true);
    match local {
        Some(Local::Recording(mut recording)) => recording.leave_thread(),
        Some(Local::Conducted(conducted)) => conducted.conductor.thread_gone(&conducted.activity),
        None => {}
    }
}

fn clear(hot: &Hot) {
    hot.token.set(NOBODY);
    hot.word.set(std::ptr::null_mut());
    hot.quiet.set(std::ptr::null());
}

/// Makes the calling thread forget which activity it runs, without ending it: for a child made by `fork`, in whose memory
/// is what belongs to its parent.
pub(crate) fn forget() {
    HOT.with(clear);
    LOCAL.with(|slot| {
        if let Ok(mut slot) = slot.try_borrow_mut() {
            std::mem::forget(slot.take());
        }
    });
}

/// Runs `action` with this thread's recording activity, registering the thread first if need be. `None` when there
/// is no recording any more.
pub(crate) fn with_recording<R>(action: impl FnOnce(&mut Recording) -> R) -> Option<R> {
    LOCAL.with(|slot| {
        let mut slot = slot.try_borrow_mut().ok()?;
        let registered = match &**slot {
            Some(Local::Recording(recording)) => recording.is_current(),
            _ => false,
        };
        if !registered {
            let recording = Recording::register(None)?;
            install(&mut slot, Local::Recording(recording));
        }
        match &mut **slot {
            Some(Local::Recording(recording)) => Some(action(recording)),
            _ => None,
        }
    })
}

/// Runs `action` with this thread's conducted activity, registering the thread first if need be. Nothing is borrowed
/// while it runs: it may take long, and a signal handler may ask who we are.
pub(crate) fn with_conducted<R>(action: impl FnOnce(&Conducted) -> R) -> Option<R> {
    let conducted = LOCAL.with(|slot| {
        let mut slot = slot.try_borrow_mut().ok()?;
        if let Some(Local::Conducted(conducted)) = &**slot
            && conducted.generation == conduct::generation()
        {
            return Some(Rc::clone(conducted));
        }
        let conducted = Rc::new(Conducted::unannounced()?);
        install(&mut slot, Local::Conducted(Rc::clone(&conducted)));
        Some(conducted)
    })?;
    Some(action(&conducted))
}

/// Makes the calling thread run an activity, until it leaves.
///
/// Threads leave when they are at their end. Of the two mechanisms for that, thread-local destructors and those of POSIX
/// keys, the system runs the latter last; so what is done in the former still belongs to the activity. At the exit of a
/// process neither runs for all threads: see there.
fn install(slot: &mut Slot, local: Local) {
    HOT.with(|hot| match &local {
        Local::Recording(recording) => {
            hot.token.set(recording.token());
            hot.word.set(recording.word());
        }
        Local::Conducted(conducted) => {
            clear(hot);
            hot.token.set(token_of(conducted.activity.number));
        }
    });
    **slot = Some(local);

    extern "C" fn thread_ends(_: *mut c_void) {
        leave();
    }
    static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
    let key = KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: A place for the key, and a function that may be called at the end of any thread.
        unsafe { libc::pthread_key_create(&mut key, Some(thread_ends)) };
        key
    });
    // SAFETY: The key exists. Its value is not used, but must not be null.
    unsafe { libc::pthread_setspecific(*key, std::ptr::dangling()) };
}

/// What a thread that nobody announced is. One that is past its own end, and only destroys what it leaves behind, is
/// not what it was before.
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
    if is_first || conduct::is_session_thread() {
        (Origin::Main, name)
    } else {
        (Origin::Foreign, name)
    }
}

impl Conducted {
    fn unannounced() -> Option<Conducted> {
        let (origin, name) = self_origin();
        Conducted::register(origin, None, name)
    }

    fn register(
        origin: Origin,
        parent: Option<(&Activity, u64)>,
        name: String,
    ) -> Option<Conducted> {
        let (conductor, generation) = conduct::current()?;
        let number = conductor.born(origin, parent.map_or(0, |(_, index)| index), &name);
        let family = match (origin, parent) {
            (_, Some((parent, index))) => format!("{}.{index}", parent.family),
            (Origin::Main, _) => "main".to_owned(),
            _ if name.is_empty() => "foreign".to_owned(),
            _ => format!("foreign({name})"),
        };
        Some(Conducted {
            conductor,
            activity: Arc::new(Activity {
                number,
                family,
                name,
                ended: Fact::new(),
            }),
            generation,
            children: Cell::new(0),
        })
    }

    fn child(&self, name: &str) -> Option<Conducted> {
        let index = self.children.get();
        self.children.set(index + 1);
        let origin = Origin::Child(self.activity.number);
        Conducted::register(origin, Some((&self.activity, index)), name.to_owned())
    }
}

/// A child activity that exists but does not run yet. Made by the parent, because the order in which a parent has
/// children is its own; taken along to the thread that will run it.
pub struct Birth {
    child: Child,
}

enum Child {
    Unrecorded,
    Recorded(crate::record::Newborn),
    Conducted(Conducted),
}

impl Birth {
    /// A new child of the current activity, to be run by a thread of this name.
    pub fn announce(name: Option<&str>) -> Birth {
        let name = name.unwrap_or_default();
        let child = match mode::settled() {
            Mode::Record => with_recording(|parent| Child::Recorded(parent.child(name))),
            Mode::Replay | Mode::Conducted => with_conducted(|parent| parent.child(name))
                .flatten()
                .map(Child::Conducted),
            _ => None,
        };
        Birth {
            child: child.unwrap_or(Child::Unrecorded),
        }
    }

    /// A handle by which others wait for the end of the activity.
    pub fn lineage(&self) -> Lineage {
        match &self.child {
            Child::Conducted(conducted) => Lineage(Some(Arc::clone(&conducted.activity))),
            _ => Lineage(None),
        }
    }

    /// The activity's number: unique among the activities of a recording and the same in its replays. None where there is
    /// neither.
    pub fn number(&self) -> Option<u32> {
        match &self.child {
            Child::Unrecorded => None,
            Child::Recorded(newborn) => Some(newborn.number),
            Child::Conducted(conducted) => Some(conducted.activity.number),
        }
    }

    /// Makes the calling thread run the activity. It ends when the returned value is dropped.
    pub fn begin(mut self) -> Life {
        let local = match std::mem::replace(&mut self.child, Child::Unrecorded) {
            Child::Unrecorded => None,
            Child::Recorded(newborn) => Recording::register(Some(newborn)).map(Local::Recording),
            Child::Conducted(conducted) => Some(Local::Conducted(Rc::new(conducted))),
        };
        if let Some(local) = local {
            LOCAL.with(|slot| install(&mut slot.borrow_mut(), local));
        }
        if mode::is_conducted() {
            with_conducted(|me| me.conductor.begins(&me.activity));
        }
        Life(())
    }
}

impl Drop for Birth {
    /// A child that never ran, because its thread could not be started, has ended.
    fn drop(&mut self) {
        if let Child::Conducted(conducted) = &self.child {
            conducted.conductor.stillborn(&conducted.activity);
            conducted.activity.ended.establish();
        }
    }
}

/// An activity that runs on this thread. Dropping it says that the activity's own code has ended.
pub struct Life(());

impl Drop for Life {
    fn drop(&mut self) {
        let ended = LOCAL.with(|slot| match slot.try_borrow_mut().ok()?.as_mut()? {
            Local::Recording(recording) => {
                recording.end();
                None
            }
            Local::Conducted(conducted) => Some((
                Arc::clone(&conducted.conductor),
                Arc::clone(&conducted.activity),
            )),
        });
        if let Some((conductor, activity)) = ended {
            conductor.ended(&activity);
            activity.ended.establish();
        }
    }
}

/// An activity as its parent knows it.
#[derive(Clone)]
pub struct Lineage(Option<Arc<Activity>>);

impl Lineage {
    /// Waits until the activity's own code has ended, as far as a conductor has to know about that. The caller then
    /// waits for the thread itself in the usual way.
    pub fn wait_for_end(&self) {
        if let Some(target) = &self.0 {
            let what = || format!("the end of {}", target.family);
            target.ended.wait_if_conducted(&what);
        }
    }
}

/// Whether operations are recorded or conducted: where they are not, a model may use what is fastest.
pub fn is_active() -> bool {
    mode::settled() != Mode::Off
}

/// Whether this process replays a trace: then nothing needs to take time.
pub fn is_replaying() -> bool {
    mode::is_conducted()
}

/// The number of the activity that the calling thread runs, registering it if need be; `None` when off.
pub fn current_number() -> Option<u32> {
    match mode::settled() {
        Mode::Record => with_recording(|recording| recording.number()),
        Mode::Replay | Mode::Conducted => with_conducted(|conducted| conducted.activity.number),
        _ => None,
    }
}

/// Who sends a message that is sent now.
#[inline(always)]
pub fn sender() -> u32 {
    0
}

/// A number for a message that is sent to a promise now.
pub fn ticket() -> u64 {
    0
}
