//! Small programs that do something that Reenact does not control, for the tests of `reenact explore`.

use std::{
    io::{self, Read},
    os::unix::net::UnixStream,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use reenact::{
    explore::{Explorer, Strategy},
    sync::{
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

fn main() {
    match std::env::args().nth(1).unwrap_or_default().as_str() {
        "input" => print_input(),
        "input-here" => input_of_a_function(),
        "readers" => two_readers(),
        "foreign" => foreign(),
        "spin" => spin(),
        "pipe" => drop(thread::spawn(wait_for_a_pipe).join()),
        "sleep" => std::thread::sleep(Duration::MAX),
        "lock" => lock_twice(),
        "end" => end_late(),
        "random" => fail_at_random(),
        "join" => thread::spawn(|| panic!("the reason")).join().unwrap(),
        "blocked" => leave_a_thread_blocked(),
        other => panic!("which one, if not {other:?}?"),
    }
}

/// Two threads that race, so that there are some executions.
fn race() {
    let x = reenact::sync::Arc::new(AtomicUsize::new(0));
    let threads = [1, 2].map(|me| {
        let x = reenact::sync::Arc::clone(&x);
        thread::spawn(move || x.store(me, SeqCst))
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Prints the size of the input.
fn print_input() {
    race();
    let mut lines = 0;
    let mut characters = 0;
    for line in io::stdin().lines() {
        lines += 1;
        characters += line.unwrap().len();
    }
    println!("{lines} lines, {characters} characters");
}

/// Explores a function that reads the first two lines and leaves the rest.
fn input_of_a_function() {
    let read = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&read);
    let finding = Explorer::new().strategy(Strategy::Exhaustive).run(move || {
        race();
        let mut lines = [String::new(), String::new()];
        for line in &mut lines {
            io::stdin().read_line(line).unwrap();
        }
        all.lock().unwrap().push(lines);
    });
    let read = read.lock().unwrap();
    let is_same = read.iter().all(|lines| *lines == read[0]);
    println!(
        "{} executions, the same: {is_same}, complete: {}, first {:?}",
        finding.executions, finding.is_complete, read[0]
    );
}

fn two_readers() {
    let threads = [0, 1].map(|_| {
        thread::spawn(|| {
            let _ = io::stdin().read(&mut [0; 1 << 14]);
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

fn foreign() {
    race();
    std::thread::spawn(race).join().unwrap();
}

fn spin() {
    static IS_SET: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        while !IS_SET.load(Relaxed) {
            std::hint::spin_loop();
        }
    });
    thread.join().unwrap();
}

fn wait_for_a_pipe() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let _ = ours.read(&mut [0]);
    drop(theirs);
}

fn lock_twice() {
    static LOCK: Mutex<()> = Mutex::new(());
    let _held = LOCK.lock();
    drop(thread::spawn(|| drop(LOCK.lock())).join());
}

/// Ends, but not before a thread does that never ends.
fn end_late() {
    static WAITING: OnceLock<()> = OnceLock::new();
    extern "C" fn wait() {
        WAITING.get_or_init(wait_for_a_pipe);
    }
    // SAFETY: The function may run at any exit of the program.
    unsafe { libc::atexit(wait) };
}

/// Fails in about one of four executions, whatever the schedule.
fn fail_at_random() {
    race();
    let mut byte = [0];
    let mut device = std::fs::File::open("/dev/urandom").unwrap();
    device.read_exact(&mut byte).unwrap();
    assert!(byte[0] >= 64, "a small number");
}

fn leave_a_thread_blocked() {
    let (sender, receiver) = mpsc::channel::<u32>();
    thread::spawn(move || receiver.recv());
    std::mem::forget(sender);
}
