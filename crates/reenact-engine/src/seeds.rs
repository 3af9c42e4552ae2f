//! The seeds of `HashMap`.
//!
//! The standard library asks for random keys once per thread, and gives each new map the same keys with a counter
//! added. On a worker that counter depends on all activities that ran there before. So the keys of workers are the same
//! for the whole recording, and the counter restarts with every turn of an actor and every process: the iteration order
//! of their maps then depends on them alone.
//!
//! On a thread of the program, both depend on what is done there [untracked](untracked): a library that is called may be
//! the first to create a map, or create many, and in a replay it is not called. So the thread's keys depend on its
//! number in the trace, and untracked code leaves the counter as it was.
//!
//! The keys are in a thread-local of the standard library that has no name. It is found by its content, at the same
//! distance from a thread-local of ours on every thread, and verified before it is used. Where it is not found, a line
//! is printed on standard error, and maps may iterate differently in a replay.

use std::{
    collections::HashMap,
    ffi::{c_int, c_void},
    hash::{BuildHasherDefault, DefaultHasher, RandomState},
    sync::{
        OnceLock,
        atomic::{AtomicIsize, AtomicU64, Ordering::Relaxed},
    },
};

use crate::{
    activity::HOT,
    external::{stay_untracked, untracked},
};

/// A map that takes no seed: for code that runs on a thread of the program but is not part of it.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// The environment variable with the keys: part of a trace.
pub(crate) const VARIABLE: &str = "REENACT_SEED";

/// The two words of a `RandomState`: the one that counts, and the other.
type Keys = [u64; 2];

/// The keys, once they are known.
static KEYS: OnceLock<Keys> = OnceLock::new();
/// The offsets of the two words from [`HOT`] of the same thread; both 0 where they are not known.
static PLACES: [AtomicIsize; 2] = [const { AtomicIsize::new(0) }; 2];
/// The initial value of the counter.
static FIRST: AtomicU64 = AtomicU64::new(0);

/// Sets the keys: those of a trace, or new ones.
pub(crate) fn set(keys: Keys) {
    if KEYS.set(keys).is_ok() {
        FIRST.store(keys[0], Relaxed);
        // On a thread of its own: the search makes keys for its thread, and those of the program's threads are the
        // program's.
        let found = std::thread::Builder::new()
            .name("reenact-seeds".to_owned())
            .spawn(|| {
                stay_untracked();
                find()
            })
            .map(|looking| looking.join());
        if let Ok(Ok(Some(places))) = found {
            PLACES[0].store(places[0], Relaxed);
            PLACES[1].store(places[1], Relaxed);
        }
    }
}

/// Sets new keys for this process and returns them.
pub(crate) fn set_new() -> Keys {
    let mut bytes = [0; size_of::<Keys>()];
    // Not the C library's function, which is captured. Without random bytes, any number is as good.
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    let (first, second) = bytes.split_at(size_of::<u64>());
    let keys = [first, second].map(|word| u64::from_ne_bytes(word.try_into().expect("a word")));
    set(keys);
    keys
}

/// Formats keys for the environment.
pub(crate) fn to_text(keys: Keys) -> String {
    format!("{:016x}{:016x}", keys[0], keys[1])
}

/// Parses what [`to_text`] returns.
pub(crate) fn from_text(text: &str) -> Option<Keys> {
    let word = |range| u64::from_str_radix(text.get(range)?, 16).ok();
    (text.len() == 32).then_some([word(0..16)?, word(16..32)?])
}

/// Returns whether the seeds of light activities are the same in a replay.
pub(crate) fn is_found() -> bool {
    PLACES[0].load(Relaxed) != PLACES[1].load(Relaxed)
}

/// Gives the keys to the calling thread, a worker.
pub(crate) fn give_to_worker() {
    give(0);
}

/// Gives keys of its own to the calling thread, which runs only the activity of this number as its own.
pub(crate) fn give_to_thread(number: u32) {
    if HOT.with(|hot| hot.maps.get()).is_null() {
        give(u64::from(number) + 1);
    }
}

fn give(whose: u64) {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let Some(keys) = KEYS.get().filter(|_| is_found()) else {
        return;
    };
    // Creates the thread's keys first, so that there is something to overwrite.
    untracked(RandomState::new);
    let [counter, other] = [0, 1].map(|word| at(PLACES[word].load(Relaxed)));
    // SAFETY: `find` has verified the offsets; the words are the thread's own, and have just been initialised.
    unsafe {
        counter.write(keys[0]);
        other.write(keys[1] ^ whose.wrapping_mul(SPREAD));
    }
    HOT.with(|hot| hot.maps.set(counter));
}

/// Restarts the counter, so that the next map has the seed of the first.
#[inline(always)]
pub(crate) fn restart() {
    let counter = HOT.with(|hot| hot.maps.get());
    if !counter.is_null() {
        // SAFETY: `give` set it on this thread, to a word of the thread's own.
        unsafe { counter.write(FIRST.load(Relaxed)) };
    }
}

/// Returns the counter of the calling thread, to be restored by [`resume`]; none if it has no keys of ours.
#[inline(always)]
pub(crate) fn pause() -> Option<u64> {
    let counter = HOT.with(|hot| hot.maps.get());
    // SAFETY: `give` set it on this thread, to a word of the thread's own, or it is null.
    unsafe { counter.as_ref() }.copied()
}

/// Restores the counter.
#[inline(always)]
pub(crate) fn resume(count: Option<u64>) {
    if let Some(count) = count {
        let counter = HOT.with(|hot| hot.maps.get());
        // SAFETY: `give` set it on this thread, to a word of the thread's own; a thread that had a counter still has
        // it.
        unsafe { counter.write(count) };
    }
}

/// Returns the address at this distance from [`HOT`] on the calling thread.
fn at(place: isize) -> *mut u64 {
    HOT.with(|hot| {
        std::ptr::from_ref(hot)
            .cast::<u8>()
            .wrapping_offset(place)
            .cast_mut()
            .cast()
    })
}

/// Returns the words of a new `RandomState`, in their order in memory.
fn new_words() -> Option<Keys> {
    const { assert!(size_of::<RandomState>() >= size_of::<Keys>()) };
    if size_of::<RandomState>() != size_of::<Keys>() {
        return None;
    }
    // SAFETY: It is exactly as large as two words, so it contains nothing but the keys.
    Some(unsafe { std::mem::transmute_copy(&RandomState::new()) })
}

/// Searches for the calling thread's keys and returns their offsets from [`HOT`].
fn find() -> Option<[isize; 2]> {
    let (first, second) = (new_words()?, new_words()?);
    // One of the words counts the maps.
    let counter = (0..2).find(|&word| second[word] == first[word].wrapping_add(1))?;
    let next = second[counter].wrapping_add(1);
    let other = second[1 - counter];
    let (start, length) = own_locals()?;
    let words = length / size_of::<u64>();
    // SAFETY: These are the calling thread's locals, which are aligned to words. No other thread writes to them.
    let word = |index: usize| unsafe { start.add(index).read_volatile() };
    let found = (1..words).find_map(|index| match (word(index - 1), word(index)) {
        pair if pair == (next, other) => Some((index - 1, index)),
        pair if pair == (other, next) => Some((index, index - 1)),
        _ => None,
    })?;
    let place = |index: usize| {
        let address = start.wrapping_add(index) as isize;
        HOT.with(|hot| address - std::ptr::from_ref(hot) as isize)
    };
    let places = [place(found.0), place(found.1)];
    // Verifies it: changes the words, checks that the next map has them, and restores them.
    let tried = [0x5eed_5eed_0000_0001, 0x5eed_5eed_0000_0002];
    // SAFETY: The place that holds these two random numbers side by side is the one they were taken from.
    unsafe {
        at(places[0]).write_volatile(tried[0]);
        at(places[1]).write_volatile(tried[1]);
        let words = new_words();
        at(places[0]).write_volatile(first[counter]);
        at(places[1]).write_volatile(other);
        let words = words?;
        (words[counter] == tried[0] && words[1 - counter] == tried[1]).then_some(places)
    }
}

/// Returns the start and length of the calling thread's thread-locals in the same library as ours.
fn own_locals() -> Option<(*const u64, usize)> {
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: The loader passes its description of a library, and the pointer given below.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Option<(*const u64, usize)>>()) };
        if info.dlpi_tls_data.is_null() {
            return 0;
        }
        // SAFETY: The loader guarantees this number of headers.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let length = headers
            .iter()
            .find(|header| header.p_type == libc::PT_TLS)
            .map_or(0, |header| header.p_memsz as usize);
        let start = info.dlpi_tls_data as usize;
        let ours = HOT.with(|hot| std::ptr::from_ref(hot) as usize);
        if (start..start + length).contains(&ours) && start.is_multiple_of(align_of::<u64>()) {
            *found = Some((start as *const u64, length));
            return 1;
        }
        0
    }
    let mut found: Option<(*const u64, usize)> = None;
    // SAFETY: It calls `visit` with the given pointer, before it returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_same_after_having_been_text() {
        let keys = [1, u64::MAX - 1];
        assert_eq!(from_text(&to_text(keys)), Some(keys));
        assert_eq!(from_text("123"), None);
        assert_eq!(from_text(&"x".repeat(32)), None);
        assert_eq!(from_text(&"ä".repeat(16)), None);
    }

    #[test]
    fn a_worker_s_maps_have_the_keys_and_their_counter_begins_anew() {
        set([77, 78]);
        assert!(
            is_found(),
            "the standard library has them where it had them"
        );
        std::thread::spawn(|| {
            give_to_worker();
            let first = new_words();
            let second = new_words();
            assert_ne!(first, second);
            restart();
            assert_eq!(new_words(), first);
            let paused = pause();
            new_words();
            resume(paused);
            assert_eq!(new_words(), second);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn other_threads_keep_theirs() {
        set([77, 78]);
        let words = std::thread::spawn(new_words).join().unwrap();
        assert!(!words.unwrap().contains(&78));
        restart();
        resume(pause());
    }
}
