//! The bank of docs/multiverse.md: two deposits of 50, each of which looks at the balance first.

use reenact::{explore::watch, sync::Arc, sync::Mutex, thread};

fn main() {
    let balance = Arc::new(Mutex::new(100));
    watch("balance", Arc::clone(&balance));
    let deposit = |balance: Arc<Mutex<i32>>| {
        let seen = *balance.lock().unwrap();
        *balance.lock().unwrap() = seen + 50;
    };
    let threads = [(); 2].map(|()| {
        let balance = Arc::clone(&balance);
        thread::spawn(move || deposit(balance))
    });
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", balance.lock().unwrap());
}
