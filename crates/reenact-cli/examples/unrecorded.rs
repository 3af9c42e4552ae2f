//! Programs that do what is not recorded: `unrecorded NAME`.

use std::{fs::File, io::Read, sync::mpsc};

use reenact::{sync::Mutex, thread};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("nothing") => nothing(),
        Some("threads") => start_threads(3),
        Some("many-threads") => start_threads(100),
        Some("killed") => {
            start_threads(3);
            read_device();
            drop(LOCK.lock());
            // SAFETY: The call has no conditions.
            unsafe { libc::raise(libc::SIGKILL) };
        }
        Some("device") => drop(read_device()),
        Some("processor-time") => ask_for_processor_time(),
        Some("depends") => depend_on_a_device(),
        other => panic!("no program {other:?}"),
    }
    drop(LOCK.lock());
}

static LOCK: Mutex<()> = Mutex::new(());

/// Uses Reenact, and what it replaces where the order does not matter.
fn nothing() {
    let counter = std::sync::Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _held = LOCK.lock().unwrap();
                *counter.lock().unwrap() += 1;
            });
        }
    });
    let (sender, receiver) = mpsc::channel();
    sender.send(*counter.lock().unwrap()).unwrap();
    println!("{}", receiver.recv().unwrap());
}

/// One of ours starts threads of std, which use nothing of Reenact.
fn start_threads(count: usize) {
    let ours = thread::spawn(move || {
        drop(LOCK.lock());
        for number in 0..count {
            let builder = std::thread::Builder::new().name(format!("pool-{number}"));
            builder.spawn(|| ()).unwrap().join().unwrap();
        }
    });
    ours.join().unwrap();
    std::thread::spawn(|| ()).join().unwrap();
}

fn read_device() -> u8 {
    let mut byte = [0];
    let mut device = File::open("/dev/urandom").unwrap();
    device.read_exact(&mut byte).unwrap();
    byte[0]
}

fn ask_for_processor_time() {
    // SAFETY: The place for the times is valid; they are plain numbers.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, &mut usage), 0);
    }
}

/// Does in a replay what it has not done, almost always.
fn depend_on_a_device() {
    for _ in 0..32 {
        match read_device() % 2 {
            0 => drop(LOCK.lock()),
            _ => drop(reenact::external("a number", || 1u64)),
        }
    }
}
