//! Threads.

use std::{cell::RefCell, time::Duration};

use super::{
    Behaviours, behaviours, message_of, panic_of,
    subject::{
        sync::{
            Arc, Mutex,
            atomic::{AtomicBool, Ordering::SeqCst},
            mpsc,
        },
        thread::{self, Builder, JoinHandle, Thread, ThreadId},
    },
};

pub(super) const ALL: Behaviours = behaviours![
    a_thread_returns_what_its_function_returns,
    a_panic_ends_the_thread_and_is_given_to_who_joins,
    what_it_captures_is_dropped_before_it_is_joined,
    threads_have_names,
    threads_have_ids,
    a_name_must_not_contain_zero,
    a_stack_can_be_asked_for,
    a_stack_too_large_is_an_error,
    an_unpark_is_kept_for_the_next_park,
    a_park_ends_with_an_unpark,
    a_timed_park_ends,
    a_thread_has_finished_when_its_function_has,
    a_thread_may_be_left_alone,
    a_thread_knows_whether_it_panics,
    locals_are_dropped_before_the_thread_is_joined,
    parallelism_sleep_yield_and_panicking_work,
    handles_can_be_shown,
    signatures_are_as_they_should_be,
];

#[cfg_attr(test, test)]
fn a_thread_returns_what_its_function_returns() {
    assert_eq!(thread::spawn(|| 3).join().unwrap(), 3);
    let text = thread::spawn(|| thread::spawn(|| "deep".to_owned()).join().unwrap());
    assert_eq!(text.join().unwrap(), "deep");
}

#[cfg_attr(test, test)]
fn a_panic_ends_the_thread_and_is_given_to_who_joins() {
    let panic = thread::spawn(|| panic!("number {}", 3))
        .join()
        .map(|never: ()| never);
    assert_eq!(message_of(&*panic.unwrap_err()), "number 3");
    let panic: thread::Result<()> = thread::spawn(|| std::panic::panic_any(7u8)).join();
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&7u8));
}

#[cfg_attr(test, test)]
fn what_it_captures_is_dropped_before_it_is_joined() {
    let shared = Arc::new(1);
    let theirs = Arc::clone(&shared);
    thread::spawn(move || assert_eq!(*theirs, 1))
        .join()
        .unwrap();
    assert_eq!(Arc::try_unwrap(shared), Ok(1));
    let shared = Arc::new(1);
    let theirs = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        let _theirs = theirs;
        panic!("with it");
    });
    assert!(thread.join().is_err());
    assert_eq!(Arc::try_unwrap(shared), Ok(1));
}

#[cfg_attr(test, test)]
fn threads_have_names() {
    let thread = Builder::new()
        .name("ada".to_owned())
        .spawn(|| thread::current().name().map(str::to_owned))
        .unwrap();
    assert_eq!(thread.thread().name(), Some("ada"));
    assert_eq!(thread.join().unwrap().as_deref(), Some("ada"));
    let thread = thread::spawn(|| thread::current().name().map(str::to_owned));
    assert_eq!(thread.thread().name(), None);
    assert_eq!(thread.join().unwrap(), None);
}

#[cfg_attr(test, test)]
fn threads_have_ids() {
    let me: ThreadId = thread::current().id();
    assert_eq!(thread::current().id(), me);
    let threads: Vec<_> = (0..3)
        .map(|_| thread::spawn(|| thread::current().id()))
        .collect();
    let mut ids = vec![me];
    for thread in threads {
        let id = thread.thread().id();
        assert_eq!(thread.join().unwrap(), id);
        assert!(!ids.contains(&id));
        ids.push(id);
    }
    let set: std::collections::HashSet<ThreadId> = ids.iter().copied().collect();
    assert_eq!(set.len(), 4);
}

#[cfg_attr(test, test)]
fn a_name_must_not_contain_zero() {
    let message = panic_of(|| Builder::new().name("a\0b".to_owned()).spawn(|| ()));
    assert!(
        message.contains("thread name may not contain interior null bytes"),
        "{message}"
    );
    assert_eq!(
        thread::spawn(|| 1).join().unwrap(),
        1,
        "and others can be started"
    );
}

#[cfg_attr(test, test)]
fn a_stack_can_be_asked_for() {
    let thread = Builder::new().stack_size(32 << 20).spawn(|| {
        let large = std::hint::black_box([1u8; 4 << 20]);
        large.len()
    });
    assert_eq!(thread.unwrap().join().unwrap(), 4 << 20);
}

#[cfg_attr(test, test)]
fn a_stack_too_large_is_an_error() {
    let shared = Arc::new(1);
    let theirs = Arc::clone(&shared);
    let thread = Builder::new().stack_size(1 << 60).spawn(move || *theirs);
    assert!(thread.is_err());
    assert_eq!(
        Arc::try_unwrap(shared),
        Ok(1),
        "what it would have had is dropped"
    );
}

#[cfg_attr(test, test)]
fn an_unpark_is_kept_for_the_next_park() {
    thread::current().unpark();
    thread::current().unpark();
    thread::park();
    let thread = thread::spawn(|| {
        thread::current().unpark();
        thread::park();
    });
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn a_park_ends_with_an_unpark() {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&flag);
    let thread = thread::spawn(move || {
        while !theirs.load(SeqCst) {
            thread::park();
        }
    });
    flag.store(true, SeqCst);
    thread.thread().unpark();
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn a_timed_park_ends() {
    thread::park_timeout(Duration::ZERO);
    thread::park_timeout(Duration::from_millis(1));
    thread::current().unpark();
    thread::park_timeout(Duration::from_secs(1000));
}

#[cfg_attr(test, test)]
fn a_thread_has_finished_when_its_function_has() {
    let (go, may_go) = mpsc::channel();
    let thread = thread::spawn(move || may_go.recv().unwrap());
    assert!(!thread.is_finished());
    go.send(5).unwrap();
    while !thread.is_finished() {
        thread::yield_now();
    }
    assert!(thread.is_finished());
    assert_eq!(thread.join().unwrap(), 5);
}

#[cfg_attr(test, test)]
fn a_thread_may_be_left_alone() {
    let (sender, receiver) = mpsc::channel();
    drop(thread::spawn(move || sender.send(1).unwrap()));
    assert_eq!(receiver.recv(), Ok(1));
    assert!(receiver.recv().is_err());
}

#[cfg_attr(test, test)]
fn a_thread_knows_whether_it_panics() {
    struct Asks(mpsc::Sender<bool>);
    impl Drop for Asks {
        fn drop(&mut self) {
            self.0.send(thread::panicking()).unwrap();
        }
    }
    let (sender, receiver) = mpsc::channel();
    drop(Asks(sender.clone()));
    let thread = thread::spawn(move || {
        let _asks = Asks(sender);
        panic!("as it does");
    });
    assert!(thread.join().is_err());
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [false, true]);
}

struct Farewell(Arc<Mutex<Vec<u8>>>, u8);

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(self.1);
    }
}

thread_local! {
    static FAREWELL: RefCell<Option<Farewell>> = const { RefCell::new(None) };
}

#[cfg_attr(test, test)]
fn locals_are_dropped_before_the_thread_is_joined() {
    let book = Arc::new(Mutex::new(Vec::new()));
    for number in 0..3 {
        let theirs = Arc::clone(&book);
        let thread = thread::spawn(move || FAREWELL.set(Some(Farewell(theirs, number))));
        thread.join().unwrap();
    }
    assert_eq!(*book.lock().unwrap(), [0, 1, 2]);
}

#[cfg_attr(test, test)]
fn parallelism_sleep_yield_and_panicking_work() {
    assert!(thread::available_parallelism().unwrap().get() > 0);
    thread::sleep(Duration::from_micros(1));
    thread::yield_now();
    assert!(!thread::panicking());
}

#[cfg_attr(test, test)]
fn handles_can_be_shown() {
    let thread = Builder::new().name("ada".to_owned()).spawn(|| ()).unwrap();
    assert_eq!(format!("{thread:?}"), "JoinHandle { .. }");
    let id = thread.thread().id();
    assert_eq!(
        format!("{:?}", thread.thread()),
        format!("Thread {{ id: {id:?}, name: Some(\"ada\"), .. }}")
    );
    assert!(format!("{id:?}").starts_with("ThreadId("));
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn signatures_are_as_they_should_be() {
    let _: fn(JoinHandle<u8>) -> thread::Result<u8> = JoinHandle::join;
    let _: fn(&JoinHandle<u8>) -> bool = JoinHandle::is_finished;
    let _: fn(&JoinHandle<u8>) -> &Thread = JoinHandle::thread;
    let _: fn(&Thread) -> Option<&str> = Thread::name;
    let _: fn(&Thread) = Thread::unpark;
    let _: fn() -> Thread = thread::current;
    let _: fn(Duration) = thread::park_timeout;
    let _: fn(Duration) = thread::sleep;
    let _: fn() -> std::io::Result<std::num::NonZero<usize>> = thread::available_parallelism;
}
