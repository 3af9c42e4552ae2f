//! Small programs with more than one universe, for trying `reenact debug` out and for its tests:
//!
//! ```text
//! $ cargo build --example universes
//! $ reenact debug -- target/debug/examples/universes deposits
//! ```

use reenact::{
    actor,
    explore::watch,
    sync::{Arc, Condvar, Mutex, atomic::AtomicU32, atomic::Ordering::SeqCst, mpsc},
    thread,
};

fn main() {
    let program = std::env::args().nth(1).unwrap_or_default();
    match program.as_str() {
        "deposits" => deposits(),
        "transfers" => transfers(),
        "channel" => channel(),
        "actors" => actors(),
        "counter" => counter(),
        "signal" => signal(),
        "try" => try_to_lock(),
        "panic" => panic_in_a_thread(),
        "abort" => abort(),
        "flaky" => flaky(),
        "nothing" => println!("nothing happened"),
        _ => {
            eprintln!(
                "which one? deposits, transfers, channel, actors, counter, signal, try, panic, abort, flaky, nothing"
            );
            std::process::exit(2);
        }
    }
}

/// Two deposits of 50, each of which looks at the balance first.
fn deposits() {
    let balance = Arc::new(Mutex::new(100));
    watch("balance", Arc::clone(&balance));
    let deposit = |balance: Arc<Mutex<i32>>| {
        let seen = *balance.lock().unwrap();
        *balance.lock().unwrap() = seen + 50;
    };
    let names = ["alice", "bob"];
    let threads = names.map(|name| {
        let balance = Arc::clone(&balance);
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(move || deposit(balance)).unwrap()
    });
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", balance.lock().unwrap());
}

/// Transfers in both directions, each of which takes what it takes from first.
fn transfers() {
    let accounts = [100, 100].map(|balance| Arc::new(Mutex::new(balance)));
    for (name, account) in ["a", "b"].iter().zip(&accounts) {
        watch(name, Arc::clone(account));
    }
    let transfer = |from: &Mutex<i32>, to: &Mutex<i32>| {
        let mut from = from.lock().unwrap();
        let mut to = to.lock().unwrap();
        *from -= 10;
        *to += 10;
    };
    let threads = [(0, 1), (1, 0)].map(|(from, to)| {
        let (from, to) = (Arc::clone(&accounts[from]), Arc::clone(&accounts[to]));
        thread::spawn(move || transfer(&from, &to))
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Two who send two numbers each, and one who receives them.
fn channel() {
    let (sender, receiver) = mpsc::channel();
    let received = Arc::new(Mutex::new(Vec::new()));
    watch("received", Arc::clone(&received));
    let threads = [1, 3].map(|first| {
        let sender = sender.clone();
        thread::spawn(move || {
            sender.send(first).unwrap();
            sender.send(first + 1).unwrap();
        })
    });
    drop(sender);
    for number in receiver {
        received.lock().unwrap().push(number);
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

/// An account that checks nothing.
struct Account {
    balance: i32,
}

#[reenact::actor]
impl Account {
    pub(crate) fn balance(&self) -> i32 {
        self.balance
    }

    pub(crate) fn set(&mut self, balance: i32) {
        self.balance = balance;
    }
}

/// Two deposits of 50, each of which asks for the balance first.
fn actors() {
    let account = actor::spawn(Account { balance: 100 });
    let threads = [(); 2].map(|()| {
        let account = account.clone();
        thread::spawn(move || {
            let seen = account.balance().wait().unwrap();
            account.set(seen + 50);
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", account.balance().wait().unwrap());
}

/// Three who count, without looking twice.
fn counter() {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    watch("counter", &COUNTER);
    let count = || COUNTER.store(COUNTER.load(SeqCst) + 1, SeqCst);
    let threads = [(); 3].map(|()| thread::spawn(count));
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Two who wait for a signal, of which there is one.
fn signal() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let threads = [(); 2].map(|()| {
        let pair = Arc::clone(&pair);
        thread::spawn(move || {
            let (is_ready, ready) = &*pair;
            let mut is_ready = is_ready.lock().unwrap();
            while !*is_ready {
                is_ready = ready.wait(is_ready).unwrap();
            }
        })
    });
    *pair.0.lock().unwrap() = true;
    pair.1.notify_one();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Two of whom each takes a lock if it can.
fn try_to_lock() {
    let count = Arc::new(Mutex::new(0));
    watch("count", Arc::clone(&count));
    let threads = [(); 2].map(|()| {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            if let Ok(mut count) = count.try_lock() {
                *count += 1;
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Who comes second panics.
fn panic_in_a_thread() {
    let count = Arc::new(Mutex::new(0));
    let threads = [(); 2].map(|()| {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            let number = {
                let mut count = count.lock().unwrap();
                *count += 1;
                *count
            };
            assert_eq!(number, 1, "somebody was here before");
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Who comes second ends the program.
fn abort() {
    let count = Arc::new(Mutex::new(0));
    let threads = [(); 2].map(|()| {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            let mut count = count.lock().unwrap();
            *count += 1;
            if *count == 2 {
                std::process::abort();
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Locks twice instead of once in every third execution, of which it keeps count in a file.
fn flaky() {
    let path = std::env::args().nth(2).expect("a file to count in");
    let count = std::fs::read(&path).map_or(0, |bytes| bytes.len()) + 1;
    std::fs::write(&path, vec![b'.'; count]).unwrap();
    let often = if count.is_multiple_of(3) { 2 } else { 1 };
    let lock = Arc::new(Mutex::new(0));
    let threads = [(); 2].map(|()| {
        let lock = Arc::clone(&lock);
        thread::spawn(move || {
            for _ in 0..often {
                *lock.lock().unwrap() += 1;
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
