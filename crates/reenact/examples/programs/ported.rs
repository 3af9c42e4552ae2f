//! Programs that were written for std, ported by a change of their imports: `programs ported NAME`.
//!
//! `ported/of_std` has them as they were, `ported/of_reenact` as they are now.

#[path = "ported/of_reenact/quicksort.rs"]
mod quicksort;
#[path = "ported/of_reenact/sieve.rs"]
mod sieve;
#[path = "ported/of_reenact/thread_pool.rs"]
mod thread_pool;
#[path = "ported/of_reenact/word_count.rs"]
mod word_count;

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
