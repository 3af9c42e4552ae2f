//! Programs that use locks at the very end: of threads, in thread-local destructors; of the process, in exit handlers.

use std::{cell::RefCell, thread as std_thread};

use reenact::{
    sync::{Arc, LazyLock, Mutex, MutexGuard, RwLock, atomic::AtomicU64, atomic::Ordering},
    thread,
};

use super::{fold, say};

crate::programs! {
    "locals" => locals,
    "locals-foreign" => locals_of_foreign_threads,
    "locals-main" => locals_of_main,
    "locals-wait" => locals_that_wait,
    "locals-print" => locals_that_print,
    "statics" => statics,
    "exit-handler" => exit_handler,
}

static LIST: Mutex<Vec<u64>> = Mutex::new(Vec::new());
static FAREWELLS: LazyLock<RwLock<u64>> = LazyLock::new(|| RwLock::new(7));
static COUNT: AtomicU64 = AtomicU64::new(0);

fn list() -> MutexGuard<'static, Vec<u64>> {
    LIST.lock().unwrap()
}

/// Takes locks when its thread ends.
struct Farewell(u64);

impl Drop for Farewell {
    fn drop(&mut self) {
        for _ in 0..20 {
            list().push(self.0);
        }
        let mut farewells = FAREWELLS.write().unwrap();
        *farewells = fold(*farewells, self.0);
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    static EARLY: RefCell<Option<Farewell>> = const { RefCell::new(None) };
    static LATE: RefCell<Option<Farewell>> = const { RefCell::new(None) };
}

/// One destructor is registered before the thread's first operation, one after it: whatever the order in which they run,
/// one runs before and one after what others may want to destroy.
fn leave_farewells(me: u64) {
    EARLY.set(Some(Farewell(100 + me)));
    for _ in 0..50 {
        list().push(me);
    }
    LATE.set(Some(Farewell(200 + me)));
}

fn show() {
    let list = list();
    println!(
        "{} {} {} {}",
        list.len(),
        list.iter().copied().fold(7, fold),
        FAREWELLS.read().unwrap(),
        COUNT.load(Ordering::Relaxed)
    );
}

fn locals() {
    let threads: Vec<_> = (0..4)
        .map(|me| thread::spawn(move || leave_farewells(me)))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    show();
}

fn locals_of_foreign_threads() {
    let threads: Vec<_> = (0..4)
        .map(|me| {
            std_thread::Builder::new()
                .name(format!("guest {me}"))
                .spawn(move || leave_farewells(me))
                .unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    show();
}

/// Says at the end of main's thread what is there then.
struct Last;

impl Drop for Last {
    fn drop(&mut self) {
        say(&format!("at last {}", list().len()));
    }
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

fn locals_of_main() {
    LAST.set(Some(Last));
    leave_farewells(5);
    let other = thread::spawn(|| leave_farewells(6));
    other.join().unwrap();
    show();
}

/// What main prints last, it prints when the process already exits.
fn locals_that_print() {
    struct Speaks;
    impl Drop for Speaks {
        fn drop(&mut self) {
            say("main has ended");
        }
    }
    thread_local! {
        static SPEAKS: RefCell<Option<Speaks>> = const { RefCell::new(None) };
    }
    SPEAKS.set(Some(Speaks));
    list().push(1);
    say("main ends");
}

/// The end of a thread has to wait for another thread, while main waits for both:
///
/// ```text
/// main:      join first ─────────────────────────────── join second
/// first:     ends ── destructor: lock (after second) …
/// second:    … lock, many times
/// ```
fn locals_that_wait() {
    let gate = Arc::new(Mutex::new(()));
    let order = Arc::new(Mutex::new(Vec::new()));
    struct Late(Arc<Mutex<()>>, Arc<Mutex<Vec<u64>>>);
    impl Drop for Late {
        fn drop(&mut self) {
            let _gate = self.0.lock().unwrap();
            for _ in 0..100 {
                self.1.lock().unwrap().push(1);
            }
        }
    }
    thread_local! {
        static LATER: RefCell<Option<Late>> = const { RefCell::new(None) };
    }
    let (ended, has_ended) = std::sync::mpsc::channel();
    let held = gate.lock().unwrap();
    let first = {
        let (gate, order) = (Arc::clone(&gate), Arc::clone(&order));
        thread::spawn(move || {
            LATER.set(Some(Late(gate, order)));
            ended.send(()).unwrap();
        })
    };
    has_ended.recv().unwrap();
    let second = {
        let order = Arc::clone(&order);
        thread::spawn(move || {
            for _ in 0..100 {
                order.lock().unwrap().push(2);
            }
        })
    };
    drop(held);
    first.join().unwrap();
    second.join().unwrap();
    let order = order.lock().unwrap();
    println!("{} {}", order.len(), order.iter().copied().fold(7, fold));
}

/// Statics of every kind, first used by whoever comes first.
fn statics() {
    static TABLE: LazyLock<Mutex<Vec<u64>>> = LazyLock::new(|| {
        list().push(1000);
        Mutex::new(vec![1])
    });
    let threads: Vec<_> = (0..4u64)
        .map(|me| {
            thread::spawn(move || {
                for _ in 0..50 {
                    TABLE.lock().unwrap().push(me);
                    list().push(me);
                    *FAREWELLS.write().unwrap() += me;
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", TABLE.lock().unwrap().iter().copied().fold(7, fold));
    show();
}

/// Locks are taken when the process is at its end and main's thread-locals are gone.
fn exit_handler() {
    extern "C" fn handler() {
        list().push(8);
        say(&format!("handler {}", list().len()));
    }
    for _ in 0..10 {
        list().push(1);
    }
    // SAFETY: The handler only takes a lock and writes a line.
    unsafe { libc::atexit(handler) };
    let other = thread::spawn(|| leave_farewells(6));
    other.join().unwrap();
    show();
}
