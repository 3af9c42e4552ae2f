//! Programs that were written for std, ported by a change of their imports: `programs ported NAME`.

#[path = "ported/all.rs"]
mod programs;

use reenact::{sync, thread};

use self::programs::{quicksort, sieve, thread_pool, word_count};

/// Runs the program of this name, if it is one of these. It prints the result, and how it came to it.
pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    if name != "ported" {
        return false;
    }
    let program = match arguments.first().map(String::as_str) {
        Some("word_count") => word_count::run,
        Some("thread_pool") => thread_pool::run,
        Some("sieve") => sieve::run,
        Some("quicksort") => quicksort::run,
        _ => return false,
    };
    let (result, how) = program();
    println!("{result}\n{how}");
    true
}
