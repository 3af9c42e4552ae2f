// What the programs use of a library whose locks, atomics and channels have the methods of the standard library's. Included
// where these types are in scope.

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

fn load(counter: &Counter) -> u64 {
    counter.load(SeqCst)
}

fn store(counter: &Counter, value: u64) {
    counter.store(value, SeqCst);
}

fn send<T>(sender: &Sender<T>, message: T) {
    assert!(
        sender.send(message).is_ok(),
        "the receiver outlives its senders"
    );
}

fn receive<T>(receiver: &Receiver<T>) -> T {
    receiver.recv().expect("the main thread has a sender too")
}
