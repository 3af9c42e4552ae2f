//! A lock that is tried only if another thread has had it before, so that it is known only after some steps that giving
//! it back has to be a step.

use reenact::{
    sync::{Arc, Mutex},
    thread,
};

fn main() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = thread::spawn(move || *other.lock().unwrap() += 1);
    let before = *count.lock().unwrap();
    if let (1, Ok(mut count)) = (before, count.try_lock()) {
        *count += 1;
    }
    thread.join().unwrap();
    println!("{}", count.lock().unwrap());
}
