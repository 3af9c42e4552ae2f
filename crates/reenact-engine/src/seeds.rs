//! The seeds of `HashMap`.
//!
//! The standard library asks for random keys once per thread, and gives each new map the same keys with a counter added. On a
//! worker that counter depends on all who ran there before. So a worker's keys are the same for the whole recording, and the
//! counter begins anew with every turn of an actor and every process: what a map of theirs iterates like is then up to them alone.
//!
//! On a thread of the program, both depend on what is done there [`apart`]: a library that is asked something may be the first to
//! make a map, or make many, and in a replay it is not asked. So the thread's keys are up to its number in the trace, and
//! what is done apart leaves the counter as it was.
//!
//! The keys are in a thread-local of the standard library that has no name. It is found by what is in it, at the same
//! distance from a thread-local of ours on every thread, and that it is the right one is tried before it is believed. Where
//! it is not found, there is a line on standard error, and maps may iterate differently in a replay.

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
    external::{apart, stay_apart},
};

/// A map that takes no seed: for everybody who runs on a thread of the program and is not part of it.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// The variable of the environment that has the keys: part of a trace.
pub(crate) const VARIABLE: &str = "REENACT_SEED";

/// The two words that a `RandomState` consists of: the one that counts, and the other.
type Keys = [u64; 2];

/// The keys, once they are known.
static KEYS: OnceLock<Keys> = OnceLock::new();
/// Where the two words are, from [`HOT`] of the same thread; both 0 where that is not known.
static PLACES: [AtomicIsize; 2] = [const { AtomicIsize::new(0) }; 2];
/// What the counter begins with.
static FIRST: AtomicU64 = AtomicU64::new(0);

/// These are the keys from now on: those of a trace, or new ones.
pub(crate) fn set(keys: Keys) {
    if KEYS.set(keys).is_ok() {
        FIRST.store(keys[0], Relaxed);
        // On a thread of its own: who looks makes keys for its thread, and those of the program's threads are the program's.
        let found = std::thread::Builder::new()
            .name("reenact-seeds".to_owned())
            .spawn(|| {
                stay_apart();
                find()
            })
            .map(|looking| looking.join());
        if let Ok(Ok(Some(places))) = found {
            PLACES[0].store(places[0], Relaxed);
            PLACES[1].store(places[1], Relaxed);
        }
    }
}

/// New keys, which are those of this process from now on.
pub(crate) fn set_new() -> Keys {
    let mut bytes = [0; size_of::<Keys>()];
    // Not the function of the C library, which is captured. Where there are no random bytes, any number is as good.
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    let (first, second) = bytes.split_at(size_of::<u64>());
    let keys = [first, second].map(|word| u64::from_ne_bytes(word.try_into().expect("a word")));
    set(keys);
    keys
}

/// Keys as text, for the environment.
pub(crate) fn to_text(keys: Keys) -> String {
    format!("{:016x}{:016x}", keys[0], keys[1])
}

/// Keys from such a text.
pub(crate) fn from_text(text: &str) -> Option<Keys> {
    let word = |range| u64::from_str_radix(text.get(range)?, 16).ok();
    (text.len() == 32).then_some([word(0..16)?, word(16..32)?])
}

/// Whether the seeds of light activities are the same in a replay.
pub(crate) fn is_found() -> bool {
    PLACES[0].load(Relaxed) != PLACES[1].load(Relaxed)
}

/// Gives the calling thread, a worker, the keys.
pub(crate) fn give_to_worker() {
    give(0);
}

/// Gives the calling thread, which runs the activity of this number and no other of its own, keys of its own.
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
    // Before anybody else does so: then there is something to be overwritten.
    apart(RandomState::new);
    let [counter, other] = [0, 1].map(|word| at(PLACES[word].load(Relaxed)));
    // SAFETY: As `find` has tried; the thread's own, and it has just been made.
    unsafe {
        counter.write(keys[0]);
        other.write(keys[1] ^ whose.wrapping_mul(SPREAD));
    }
    HOT.with(|hot| hot.maps.set(counter));
}

/// The next map is the first again.
#[inline(always)]
pub(crate) fn restart() {
    let counter = HOT.with(|hot| hot.maps.get());
    if !counter.is_null() {
        // SAFETY: Set by `give_to_worker` on this thread, to what is the thread's own.
        unsafe { counter.write(FIRST.load(Relaxed)) };
    }
}

/// The counter of the calling thread, to be given back to it by [`resume`]; none if it has no keys of ours.
#[inline(always)]
pub(crate) fn pause() -> Option<u64> {
    let counter = HOT.with(|hot| hot.maps.get());
    // SAFETY: As in `restart`.
    unsafe { counter.as_ref() }.copied()
}

/// Goes on with this counter.
#[inline(always)]
pub(crate) fn resume(count: Option<u64>) {
    if let Some(count) = count {
        let counter = HOT.with(|hot| hot.maps.get());
        // SAFETY: As in `restart`; and who had a counter has it still.
        unsafe { counter.write(count) };
    }
}

/// What is at this distance from [`HOT`] on the calling thread.
fn at(place: isize) -> *mut u64 {
    HOT.with(|hot| {
        std::ptr::from_ref(hot)
            .cast::<u8>()
            .wrapping_offset(place)
            .cast_mut()
            .cast()
    })
}

/// The words of a new `RandomState`, in the order in which it has them.
fn new_words() -> Option<Keys> {
    const { assert!(size_of::<RandomState>() >= size_of::<Keys>()) };
    if size_of::<RandomState>() != size_of::<Keys>() {
        return None;
    }
    // SAFETY: It is as large as two words, and it has no room for anything else than the keys.
    Some(unsafe { std::mem::transmute_copy(&RandomState::new()) })
}

/// Looks for the calling thread's keys: where they are, from [`HOT`].
fn find() -> Option<[isize; 2]> {
    let (first, second) = (new_words()?, new_words()?);
    // One of the words counts the maps.
    let counter = (0..2).find(|&word| second[word] == first[word].wrapping_add(1))?;
    let next = second[counter].wrapping_add(1);
    let other = second[1 - counter];
    let (start, length) = own_locals()?;
    let words = length / size_of::<u64>();
    // SAFETY: The calling thread's locals, which are aligned to words. Nobody else writes to them.
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
    // To believe it, it is changed, and looked whether the next map has it; then it is as it was.
    let tried = [0x5eed_5eed_0000_0001, 0x5eed_5eed_0000_0002];
    // SAFETY: What holds these two random numbers side by side, is what they were taken from.
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

/// The thread-locals of the calling thread that are in the same library as ours: where they begin and how long they are.
fn own_locals() -> Option<(*const u64, usize)> {
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: The loader gives its description of a library, and what we gave it.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Option<(*const u64, usize)>>()) };
        if info.dlpi_tls_data.is_null() {
            return 0;
        }
        // SAFETY: So many headers, says the loader.
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
    // SAFETY: It calls `visit` with what it is given, before it returns.
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
