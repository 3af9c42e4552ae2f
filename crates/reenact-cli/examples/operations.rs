//! Small programs that do one kind of operation each, for the breakpoints of `reenact debug`.

use reenact::{
    actor, csp, explore,
    stm::{TVar, atomically},
    sync::{
        Arc, Barrier, Condvar, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

fn main() {
    match std::env::args().nth(1).unwrap_or_default().as_str() {
        "actor" => messages(),
        "atomic" => atomic(),
        "barrier" => barrier(),
        "channel" => channel(),
        "choice" => assert!(explore::any(2) < 2),
        "condvar" => condvar(),
        "external" => drop(thread::available_parallelism()),
        "mutex" => mutex(),
        "park" => park(),
        "process" => csp::spawn(|| ()).join().unwrap(),
        "question" => question(),
        "select" => select(),
        "thread" => thread::spawn(|| ()).join().unwrap(),
        "transaction" => transaction(),
        other => panic!("there is no program {other}"),
    }
}

struct Counter(u32);

#[reenact::actor]
impl Counter {
    pub(crate) fn add(&mut self, number: u32) -> u32 {
        self.0 += number;
        self.0
    }
}

fn messages() {
    let counter = actor::spawn(Counter(0));
    assert_eq!(counter.add(1).wait().unwrap(), 1);
}

fn atomic() {
    let number = AtomicU32::new(0);
    number.store(number.load(SeqCst) + 1, SeqCst);
}

fn barrier() {
    let barrier = Arc::new(Barrier::new(2));
    let other = Arc::clone(&barrier);
    let thread = thread::spawn(move || other.wait().is_leader());
    assert_ne!(barrier.wait().is_leader(), thread.join().unwrap());
}

fn channel() {
    let (sender, receiver) = csp::unbounded();
    sender.send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    drop(sender);
}

fn condvar() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&pair);
    let thread = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let is_not = |is_true: &mut bool| !*is_true;
    drop(pair.1.wait_while(pair.0.lock().unwrap(), is_not));
    thread.join().unwrap();
}

fn mutex() {
    let mutex = Mutex::new(0);
    *mutex.lock().unwrap() += 1;
}

fn park() {
    let parked = thread::spawn(thread::park);
    parked.thread().unpark();
    parked.join().unwrap();
}

fn question() {
    let thread = thread::spawn(|| ());
    let _ = thread.is_finished();
    thread.join().unwrap();
}

fn select() {
    let (one, other) = (csp::unbounded(), csp::unbounded());
    one.0.send(1).unwrap();
    other.0.send(2).unwrap();
    csp::select! {
        recv(one.1) -> number => assert_eq!(number, Ok(1)),
        recv(other.1) -> number => assert_eq!(number, Ok(2)),
    }
}

fn transaction() {
    let variable = TVar::new(0);
    atomically(|tx| variable.modify(tx, |number| number + 1));
}
