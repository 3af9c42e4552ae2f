//! What programs ask the C library for, mostly without knowing: clocks, random bytes, who they are.

use std::{
    collections::{HashMap, HashSet},
    sync::mpsc,
    time::{Duration, Instant, SystemTime},
};

use reenact::{
    actor::System,
    csp,
    stm::{TVar, atomically},
    sync::{Arc, Condvar, Mutex},
    thread,
};

use super::{say, setting, wait_to_be_killed};

pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "clocks" => clocks(),
        "c-clocks" => c_clocks(),
        "random" => random(),
        "maps" => maps(),
        "identity" => identity(),
        "strangers" => strangers(),
        "guests" => guests(),
        "in-transactions" => in_transactions(),
        "own-time" => own_time(),
        "token" => token(&arguments[0]),
        "clock-until-killed" => clock_until_killed(),
        "clock-or-time" => clock_or_time(),
        "library-waits" => library_waits(),
        "library-waits-for-a-busy-thread" => library_waits_for_a_busy_thread(),
        _ => return false,
    }
    true
}

/// What somebody sees who looks at both clocks, as often as it likes.
fn look(times: usize) -> Vec<String> {
    (0..times)
        .map(|_| format!("{:?} {:?}", Instant::now(), SystemTime::now()))
        .collect()
}

/// How long the waits of [`library_waits`] take at most.
const LIMIT: Duration = Duration::from_secs(1);

/// ```text
/// a thread of std ── sends ── sends ── …
/// main, a thread  ── waits for it in std, until a time at most ── takes a lock ── waits …
/// ```
fn library_waits() {
    let total = Arc::new(Mutex::new(0));
    let wait_for_others = |name: &'static str, total: Arc<Mutex<u32>>| {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            for number in 0..20 {
                std::thread::yield_now();
                sender.send(number).unwrap();
            }
        });
        loop {
            match receiver.recv_timeout(LIMIT) {
                Ok(number) => *total.lock().unwrap() += number,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        wait_with_the_c_library();
        println!("{name} has waited");
    };
    let ours = thread::spawn({
        let total = Arc::clone(&total);
        move || wait_for_others("a thread", total)
    });
    ours.join().unwrap();
    wait_for_others("main", Arc::clone(&total));
    let began = Instant::now();
    let (_sender, receiver) = mpsc::channel::<()>();
    receiver.recv_timeout(LIMIT / 50).unwrap_err();
    assert!(began.elapsed() >= LIMIT / 50);
    println!("{}", total.lock().unwrap());
}

/// ```text
/// a thread of std ── computes ──────────────── sends
/// main            ── waits for it in std, until a time at most
/// ```
///
/// It computes as long as its environment says.
fn library_waits_for_a_busy_thread() {
    let computes = setting("COMPUTES", "0").parse().map(Duration::from_millis);
    let computes = computes.expect("a number of milliseconds");
    let ran = || {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: The place for the time is valid.
        let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        assert_eq!(result, 0);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let (sender, receiver) = mpsc::channel();
    let sends = std::thread::spawn(move || {
        while ran() < computes {
            std::hint::spin_loop();
        }
        let _ = sender.send("in time");
    });
    println!("{:?}", receiver.recv_timeout(LIMIT / 20));
    sends.join().unwrap();
}

/// Waits for a semaphore that another thread posts, until a time of day and until a time of the monotonic clock.
fn wait_with_the_c_library() {
    struct Semaphore(std::cell::UnsafeCell<libc::sem_t>);
    // SAFETY: The functions of the C library may be called from several threads.
    unsafe impl Sync for Semaphore {}
    // SAFETY: A semaphore is plain data until it is initialised.
    let semaphore = std::sync::Arc::new(Semaphore(unsafe { std::mem::zeroed() }));
    // SAFETY: Nobody uses it yet.
    assert_eq!(unsafe { libc::sem_init(semaphore.0.get(), 0, 0) }, 0);
    for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
        let posting = std::sync::Arc::clone(&semaphore);
        let posts = std::thread::spawn(move || {
            // SAFETY: It is initialised.
            assert_eq!(unsafe { libc::sem_post(posting.0.get()) }, 0);
        });
        loop {
            let mut limit = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            // SAFETY: The place for the time is valid, and the semaphore is initialised.
            let result = unsafe {
                assert_eq!(libc::clock_gettime(clock, &mut limit), 0);
                limit.tv_sec += LIMIT.as_secs() as i64;
                match clock {
                    libc::CLOCK_REALTIME => libc::sem_timedwait(semaphore.0.get(), &limit),
                    _ => sem_clockwait(semaphore.0.get(), clock, &limit),
                }
            };
            if result == 0 {
                break;
            }
        }
        posts.join().unwrap();
    }
}

unsafe extern "C" {
    fn sem_clockwait(
        semaphore: *mut libc::sem_t,
        clock: libc::clockid_t,
        limit: *const libc::timespec,
    ) -> libc::c_int;
}

struct Looker;

#[reenact::actor]
impl Looker {
    pub(crate) fn look(&mut self, times: usize) -> Vec<String> {
        look(times)
    }

    pub(crate) fn maps(&mut self, number: u32) -> String {
        [map(number), map(number)].concat()
    }
}

/// Threads, actors, processes and main look at clocks, with meetings in between.
fn clocks() {
    let shared = Arc::new(Mutex::new(Vec::new()));
    shared.lock().unwrap().push(look(1));
    let threads: Vec<_> = (0..3)
        .map(|thread| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for round in 0..40 {
                    let seen = look(round % 3 + thread);
                    shared.lock().unwrap().push(seen);
                }
            })
        })
        .collect();
    let system = System::new(2);
    let actors: Vec<_> = (0..4).map(|_| system.spawn(Looker)).collect();
    for round in 0..10 {
        let seen: Vec<_> = actors.iter().map(|actor| actor.look(round)).collect();
        for seen in seen {
            shared.lock().unwrap().push(seen.wait().unwrap());
        }
    }
    let (sender, receiver) = csp::channel();
    let processes: Vec<_> = (0..4)
        .map(|_| {
            let sender = sender.clone();
            csp::spawn(move || {
                for round in 0..10 {
                    sender.send(look(round)).unwrap();
                }
            })
        })
        .collect();
    drop(sender);
    shared.lock().unwrap().extend(&receiver);
    for thread in threads {
        thread.join().unwrap();
    }
    for process in processes {
        process.join().unwrap();
    }
    println!("{:#?}", shared.lock().unwrap());
    // Long enough for chunks to be changed in the middle, and for checks.
    let first = Instant::now();
    let sum: u128 = (0..30_000).map(|_| first.elapsed().as_nanos()).sum();
    println!("{sum}");
}

/// The functions of the C library themselves, and clocks that nobody reads often.
fn c_clocks() {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut day = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    // SAFETY: Places for what they say.
    unsafe {
        for clock in [
            libc::CLOCK_MONOTONIC,
            libc::CLOCK_REALTIME,
            libc::CLOCK_BOOTTIME,
            libc::CLOCK_THREAD_CPUTIME_ID,
            libc::CLOCK_PROCESS_CPUTIME_ID,
            libc::CLOCK_MONOTONIC_RAW,
        ] {
            assert_eq!(libc::clock_gettime(clock, &mut time), 0);
            println!("{clock}: {} {}", time.tv_sec, time.tv_nsec);
        }
        assert_eq!(libc::clock_gettime(12_345, &mut time), -1);
        println!("{}", std::io::Error::last_os_error());
        assert_eq!(libc::gettimeofday(&mut day, std::ptr::null_mut()), 0);
        println!("{} {}", day.tv_sec, day.tv_usec);
        let mut seconds = 0;
        assert_eq!(libc::time(&mut seconds), seconds);
        println!("{seconds} {}", libc::time(std::ptr::null_mut()) >= seconds);
        // The same without the functions, as some libraries do it.
        let call = libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_REALTIME, &mut time);
        println!("{call} {} {}", time.tv_sec, time.tv_nsec);
        let nothing = std::ptr::null_mut::<libc::c_void>();
        let call = libc::syscall(libc::SYS_gettimeofday, &mut day, nothing);
        println!("{call} {} {}", day.tv_sec, day.tv_usec);
        println!("{}", clock());
    }
}

fn random() {
    // All at once: whichever comes first is the first to ask in this process.
    let at_once: Vec<_> = (0..4).map(|_| thread::spawn(uuid::Uuid::new_v4)).collect();
    at_once
        .into_iter()
        .for_each(|thread| println!("{}", thread.join().unwrap()));
    let threads = (0..3).map(|_| {
        thread::spawn(|| {
            let mut bytes = [0; 130];
            // SAFETY: Room for so many.
            unsafe {
                // As version 0.2 of the crate getrandom does it.
                let rest = bytes.as_mut_ptr().byte_add(100);
                assert_eq!(libc::syscall(libc::SYS_getrandom, rest, 20, 0), 20);
                arc4random_buf(rest.byte_add(20).cast(), 10);
                assert!(arc4random_uniform(7) < 7);
                bytes[129] ^= arc4random() as u8;
                assert_eq!(libc::getrandom(bytes.as_mut_ptr().cast(), 40, 0), 40);
                assert_eq!(
                    libc::getentropy(bytes.as_mut_ptr().byte_add(40).cast(), 60),
                    0
                );
            }
            format!(
                "{bytes:x?} {} {:x}",
                uuid::Uuid::new_v4(),
                rand::random::<u128>()
            )
        })
    });
    threads.for_each(|thread| println!("{}", thread.join().unwrap()));
    println!("{} {}", uuid::Uuid::new_v4(), rand::random::<u64>());
}

unsafe extern "C" {
    fn clock() -> libc::clock_t;
    fn arc4random() -> u32;
    fn arc4random_buf(buffer: *mut libc::c_void, length: usize);
    fn arc4random_uniform(bound: u32) -> u32;
}

/// In which order a map has its keys.
fn map(number: u32) -> String {
    let set: HashSet<u32> = (0..10).map(|key| key * number).collect();
    let map: HashMap<u32, u32> = (0..10).map(|key| (key, number)).collect();
    format!("{:?} {:?}", set, map.keys().collect::<Vec<_>>())
}

/// Maps of threads, actors and processes, who wait or not in between as it comes.
fn maps() {
    println!("{}", map(1));
    let threads: Vec<_> = (0..3)
        .map(|n| thread::spawn(move || map(n) + &map(n)))
        .collect();
    threads
        .into_iter()
        .for_each(|thread| println!("{}", thread.join().unwrap()));
    let system = System::new(2);
    let actors: Vec<_> = (0..3).map(|_| system.spawn(Looker)).collect();
    let seen: Vec<_> = (0..60).map(|n| actors[n % 3].maps(n as u32 / 3)).collect();
    seen.into_iter()
        .for_each(|maps| println!("{}", maps.wait().unwrap()));
    let (sender, receiver) = csp::bounded(2);
    let processes: Vec<_> = (0..4)
        .map(|n| {
            let sender = sender.clone();
            csp::spawn(move || {
                (0..10).for_each(|_| sender.send(map(n)).unwrap());
                map(n)
            })
        })
        .collect();
    drop(sender);
    receiver.iter().for_each(|maps| println!("{maps}"));
    processes
        .into_iter()
        .for_each(|process| println!("{}", process.join().unwrap()));
}

fn identity() {
    println!(
        "{} {:?}",
        std::process::id(),
        std::env::args().collect::<Vec<_>>()
    );
    println!("{:?}", std::env::var("GREETING"));
    // A signal to the number that the program knows itself by comes to it, not to whoever has that number now.
    // SAFETY: Number 0 is no signal: it is asked whether there is such a process.
    assert_eq!(unsafe { libc::kill(std::process::id() as i32, 0) }, 0);
}

/// A thread of a library, which looks at the clock as often as it happens to, and one that does so once.
fn strangers() {
    let (sender, receiver) = mpsc::channel();
    let watcher = std::thread::spawn(move || {
        while receiver.recv_timeout(Duration::from_micros(50)) != Ok(()) {
            std::hint::black_box((Instant::now(), map(3)));
        }
    });
    let once = std::thread::Builder::new()
        .name("once".to_owned())
        .spawn(|| look(3))
        .unwrap();
    println!("{:?}", once.join().unwrap());
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..2)
        .map(|n| {
            let list = Arc::clone(&list);
            thread::spawn(move || (0..500).for_each(|_| list.lock().unwrap().push(n)))
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    println!("{:?}", list.lock().unwrap());
    sender.send(()).unwrap();
    watcher.join().unwrap();
}

/// Threads of a library that meet the program, and look at the clock in between as often as they happen to.
fn guests() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..3)
        .map(|n| {
            let list = Arc::clone(&list);
            let guest = std::thread::Builder::new().name(format!("guest {n}"));
            guest
                .spawn(move || {
                    for _ in 0..50 {
                        let until = Instant::now() + Duration::from_micros(20);
                        while Instant::now() < until {}
                        list.lock().unwrap().push(n);
                    }
                })
                .unwrap()
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    println!("{:?}", list.lock().unwrap());
}

/// Transactions that collide, with clocks, random bytes and values from outside in them.
fn in_transactions() {
    let log = TVar::new(Vec::<String>::new());
    let total = TVar::new(0u64);
    let threads: Vec<_> = (0..4u64)
        .map(|n| {
            let (log, total) = (log.clone(), total.clone());
            thread::spawn(move || {
                for round in 0..30 {
                    let seen = atomically(|tx| {
                        let before = total.read(tx)?;
                        let seen = match (round + n) % 4 {
                            0 => look(2).concat(),
                            1 => uuid::Uuid::new_v4().to_string(),
                            2 => reenact::external("now", || format!("{:?}", Instant::now())),
                            _ => String::new(),
                        };
                        total.write(tx, before + round * n)?;
                        let mut lines = log.read(tx)?;
                        lines.push(format!("{n}: {before} {seen}"));
                        log.write(tx, lines)?;
                        Ok(seen)
                    });
                    // One that only reads, with something in it, and one without anything.
                    let read = atomically(|tx| Ok((total.read(tx)?, Instant::now())));
                    let again = atomically(|tx| total.read(tx));
                    std::hint::black_box((seen, read, again));
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    atomically(|tx| log.read(tx))
        .iter()
        .for_each(|line| println!("{line}"));
}

/// Operations that have to do with time, none of which looks at a clock of the program's.
fn own_time() {
    let moment = Duration::from_millis(1);
    let pair = (Mutex::new(false), Condvar::new());
    let guard = pair.0.lock().unwrap();
    let (guard, timed_out) = pair.1.wait_timeout(guard, moment).unwrap();
    println!("{}", timed_out.timed_out());
    drop(
        pair.1
            .wait_timeout_while(guard, moment, |done| !*done)
            .unwrap(),
    );
    thread::park_timeout(moment);
    thread::sleep(moment);
    let (_sender, receiver) = reenact::sync::mpsc::channel::<()>();
    println!("{:?}", receiver.recv_timeout(moment));
    let process = csp::spawn(move || {
        let (_sender, receiver) = csp::channel::<()>();
        thread::sleep(moment);
        receiver.recv_timeout(moment).is_err()
    });
    println!("{:?}", process.join());
}

/// Asks for something that may be a secret, or does not.
fn token(how: &str) {
    println!("begins");
    if how == "ask" {
        println!(
            "{} letters",
            std::env::var("TOKEN").unwrap_or_default().len()
        );
    }
}

fn clock_until_killed() {
    (0..10_000).for_each(|_| {
        std::hint::black_box(Instant::now());
    });
    say("looked");
    wait_to_be_killed();
}

/// Another program, where the environment says so.
fn clock_or_time() {
    for _ in 0..3 {
        match setting("WHICH", "clock").as_str() {
            "clock" => println!("{:?}", Instant::now()),
            "time" => println!("{:?}", SystemTime::now()),
            _ => println!("{}", uuid::Uuid::new_v4()),
        }
    }
}
