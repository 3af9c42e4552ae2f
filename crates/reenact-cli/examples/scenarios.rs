//! Small programs that end in many ways, for trying `reenact` out and for its tests:
//!
//! ```text
//! $ cargo build --example scenarios
//! $ reenact record -- target/debug/examples/scenarios race
//! $ reenact replay scenarios.reenact --times 10
//! ```

use std::{
    io::Write,
    process::Command,
    time::{Duration, Instant},
};

use reenact::{
    actor::{self, FarRef, System},
    fs,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI32, Ordering::SeqCst},
    },
    thread,
};

fn main() {
    let scenario = std::env::args().nth(1).unwrap_or_default();
    match scenario.as_str() {
        "race" => std::process::exit(race()),
        "poison" => poison(),
        "exit" => exit_among_threads(),
        "abort" => abort_among_threads(),
        "timeouts" => timeouts(),
        "actors" => actors(),
        "crowd" => crowd(),
        "file" => as_many_messages_as_a_file_says(),
        "child" => with_a_child(),
        "forever" => forever(),
        "outside" => outside(),
        "print-words" => print_words(),
        "secret" => secret(),
        "environment" => environment(),
        "until-told" => until_told(),
        "nothing" => println!("nothing happened"),
        "silence" => {}
        "lost-update" => std::process::exit(lost_update()),
        "philosophers" => philosophers(),
        "turns" => turns(),
        _ => {
            eprintln!(
                "which one? race, poison, exit, abort, timeouts, actors, crowd, file, child, forever, outside, print-words, secret, environment, until-told, nothing, silence, lost-update, philosophers, turns"
            );
            std::process::exit(2);
        }
    }
}

/// Prints what is in a file that Reenact does not know of.
fn print_words() {
    let words = std::fs::read_to_string("words").expect("there are words");
    println!("the words:");
    println!("{words}");
}

/// Asks for something that may be a secret.
fn secret() {
    println!(
        "{} letters",
        std::env::var("TOKEN").unwrap_or_default().len()
    );
}

/// Looks at a clock, reads a file and writes another.
fn outside() {
    println!("{:?}", Instant::now());
    let orders = fs::read_to_string("orders").unwrap_or_else(|error| error.to_string());
    println!("{orders}");
    fs::write("report", orders.to_uppercase()).expect("room for a report");
}

/// Threads write their numbers into one list; the exit status depends on the order in which they came.
fn race() -> i32 {
    let order = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..4u64)
        .map(|number| {
            let order = Arc::clone(&order);
            thread::spawn(move || {
                for round in 0..200 {
                    order.lock().unwrap().push(number);
                    work(round * (number + 1));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let order = order.lock().unwrap();
    let sum = order.iter().fold(7u64, |sum, number| {
        sum.wrapping_mul(31).wrapping_add(number + 1)
    });
    println!("{sum:016x}");
    (sum % 100) as i32
}

/// A panic while a lock is held; main fails on the lock that this leaves poisoned.
fn poison() {
    let lock = Arc::new(Mutex::new(0));
    let thread = thread::spawn({
        let lock = Arc::clone(&lock);
        move || {
            let _guard = lock.lock().unwrap();
            panic!("out of cheese");
        }
    });
    let _ = thread.join();
    *lock.lock().unwrap() += 1;
}

/// Main leaves while others are busy. How far they came is the exit status.
fn exit_among_threads() {
    let count = busy_threads();
    let so_far = loop {
        let count = *locked(&count);
        if count > 100 {
            break count;
        }
        thread::yield_now();
    };
    println!("{so_far}");
    std::process::exit((so_far % 100) as i32);
}

/// As before, and by a signal.
fn abort_among_threads() {
    let count = busy_threads();
    while *locked(&count) <= 100 {
        thread::yield_now();
    }
    std::process::abort();
}

/// Waits that run out and waits that do not, locks that are to be had and locks that are not.
fn timeouts() {
    let pair = Arc::new((Mutex::new(0u64), Condvar::new()));
    let other = thread::spawn({
        let pair = Arc::clone(&pair);
        move || {
            for round in 0..50 {
                work(round * 100);
                if let Ok(mut value) = pair.0.try_lock() {
                    *value += 1;
                }
                pair.1.notify_one();
            }
        }
    });
    let mut story = String::new();
    let mut value = locked(&pair.0);
    for _ in 0..50 {
        let (guard, result) = pair
            .1
            .wait_timeout(value, Duration::from_micros(20))
            .unwrap();
        value = guard;
        story.push(if result.timed_out() { 't' } else { 's' });
    }
    drop(value);
    other.join().unwrap();
    println!("{story} {}", locked(&pair.0));
}

/// Writes down whose messages come.
#[derive(Default)]
struct Scribe {
    story: String,
}

#[reenact::actor]
impl Scribe {
    pub(crate) fn note(&mut self, letter: char) {
        self.story.push(letter);
    }

    pub(crate) fn story(&self) -> String {
        self.story.clone()
    }
}

/// Sends its letter to a scribe.
struct Author {
    letter: char,
    scribe: FarRef<Scribe>,
}

#[reenact::actor]
impl Author {
    pub(crate) fn write(&mut self, times: u64) {
        for time in 0..times {
            self.scribe.note(self.letter);
            work(time * 20);
        }
    }
}

/// Several actors send to one, at the same time.
fn actors() {
    let system = System::new(4);
    let scribe = system.spawn(Scribe::default());
    for letter in ['a', 'b', 'c'] {
        let scribe = scribe.clone();
        system.spawn(Author { letter, scribe }).write(50);
    }
    system.wait_until_idle();
    let story = scribe.story().wait().expect("the scribe answers");
    println!("{story}");
}

/// Depends on something that is not recorded: how often the authors write is in the file `times`.
fn as_many_messages_as_a_file_says() {
    let times = std::fs::read_to_string("times").expect("a file that is called times");
    let times = times.trim().parse().expect("a number in the file");
    let system = System::new(2);
    let scribe = system.spawn(Scribe::default());
    for letter in ['a', 'b'] {
        let scribe = scribe.clone();
        system.spawn(Author { letter, scribe }).write(times);
    }
    system.wait_until_idle();
    println!("{}", scribe.story().wait().expect("the scribe answers"));
    drop(scribe);
    system.wait_until_idle();
}

/// Many actors to which nothing unpredicted happens.
fn crowd() {
    let scribes: Vec<_> = (0..1000).map(|_| actor::spawn(Scribe::default())).collect();
    for scribe in &scribes {
        scribe.note('x');
    }
    for scribe in scribes {
        scribe.story().wait().expect("the scribe answers");
    }
    println!("{} workers", System::current().workers());
}

/// A program that starts another one; both are recorded.
fn with_a_child() {
    let lock = Mutex::new(1);
    *lock.lock().unwrap() += 1;
    let status = Command::new(std::env::current_exe().unwrap())
        .arg("race")
        .status()
        .unwrap();
    println!("the child ended with {}", status.code().unwrap_or(-1));
}

/// Goes on until someone ends it; says who it is once there is something to lose.
fn forever() {
    let count = busy_threads();
    while *locked(&count) <= 1000 {
        thread::yield_now();
    }
    println!("{}", std::process::id());
    let _ = std::io::stdout().flush();
    loop {
        *locked(&count) += 1;
    }
}

fn busy_threads() -> Arc<Mutex<u64>> {
    let count = Arc::new(Mutex::new(0));
    for number in 1..4 {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            loop {
                *locked(&count) += 1;
                work(number * 50);
            }
        });
    }
    count
}

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn work(amount: u64) {
    for step in 0..amount {
        std::hint::black_box(step);
    }
}

/// Two threads add one to what may be one afterwards: 0 if it is two. What they add comes from outside.
fn lost_update() -> i32 {
    let one = reenact::external("one", || 1);
    let counter = Arc::new(AtomicI32::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || counter.store(counter.load(SeqCst) + one, SeqCst))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let counted = counter.load(SeqCst);
    println!("counted to {counted}");
    i32::from(counted != 2)
}

/// Two threads take a lock three times each, which they can do in twenty orders.
fn turns() {
    let orders = Arc::new(Mutex::new(Vec::new()));
    let threads = [0, 1].map(|me| {
        let orders = Arc::clone(&orders);
        thread::spawn(move || (0..3).for_each(|_| orders.lock().unwrap().push(me)))
    });
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{:?}", orders.lock().unwrap());
}

/// Two of them, who take their forks one after the other.
fn philosophers() {
    let forks: Arc<[_; 2]> = Arc::new([Mutex::new(()), Mutex::new(())]);
    let threads: Vec<_> = (0..2)
        .map(|me| {
            let forks = Arc::clone(&forks);
            thread::spawn(move || {
                let _first = forks[me].lock().unwrap();
                let _second = forks[1 - me].lock().unwrap();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Prints the variables that its arguments name.
fn environment() {
    std::hint::black_box(Instant::now());
    for name in std::env::args().skip(2) {
        match std::env::var(&name) {
            Ok(value) => println!("{name} is {value}"),
            Err(_) => println!("{name} is not set"),
        }
    }
}

/// Counts until it reads a line, and somewhat further.
fn until_told() {
    let count = busy_threads();
    println!("counting");
    let _ = std::io::stdout().flush();
    let _ = std::io::stdin().read_line(&mut String::new());
    let before = *locked(&count);
    while *locked(&count) < before + 100_000 {
        thread::yield_now();
    }
    println!("done");
    std::process::exit(0);
}
