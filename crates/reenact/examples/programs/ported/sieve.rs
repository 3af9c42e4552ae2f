/*
 * The prime sieve with one thread per prime: each passes on what its prime does not divide.
 * Bounded channels everywhere, the first of them without a buffer.
 */
use super::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use super::thread::{self, JoinHandle};
use std::time::Duration;

fn generate(limit: u32) -> (Receiver<u32>, JoinHandle<u32>) {
    let (tx, rx) = sync_channel(0);
    let handle = thread::spawn(move || {
        let mut sent = 0;
        for n in 2..limit {
            if tx.send(n).is_err() {
                break;
            }
            sent += 1;
        }
        sent
    });
    (rx, handle)
}

fn filter(input: Receiver<u32>, prime: u32) -> (Receiver<u32>, JoinHandle<u32>) {
    let (tx, rx) = sync_channel(2);
    let handle = thread::spawn(move || {
        let mut waits = 0;
        'outer: loop {
            let n = loop {
                match input.recv_timeout(Duration::from_micros(20)) {
                    Ok(n) => break n,
                    Err(RecvTimeoutError::Timeout) => waits += 1,
                    Err(RecvTimeoutError::Disconnected) => break 'outer,
                }
            };
            if n % prime != 0 && tx.send(n).is_err() {
                break;
            }
        }
        waits
    });
    (rx, handle)
}

pub fn run() -> (String, String) {
    let (mut rx, handle) = generate(60);
    let mut handles = vec![handle];
    let mut primes = vec![];
    while let Ok(prime) = rx.recv() {
        primes.push(prime);
        let (next, handle) = filter(rx, prime);
        handles.push(handle);
        rx = next;
    }
    drop(rx);
    let counts: Vec<u32> = handles.into_iter().map(|h| h.join().unwrap()).collect();
    (format!("{:?}", primes), format!("{:?}", counts))
}
