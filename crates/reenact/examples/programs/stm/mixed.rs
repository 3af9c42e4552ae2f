//! Transactions among locks, atomics, channels and actors: `stm-mixed`, `stm-actors`.

use reenact::{
    actor::{Context, System, Target, spawn},
    stm::{TVar, atomically, guard},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use crate::support::{Dice, Seen, jitter, run_workers};

crate::programs! {
    "stm-mixed" => mixed,
    "stm-actors" => actors,
}

#[derive(Default)]
struct Shared {
    lock: Mutex<u64>,
    atomic: AtomicU64,
    stock: TVar<u64>,
    log: TVar<Vec<u64>>,
}

/// Whatever one does, it saw what others did in other ways: a transaction's result goes into a lock, a lock's into a
/// transaction.
fn mixed() {
    let shared = Arc::new(Shared::default());
    let (sender, receiver) = mpsc::channel();
    let theirs = Arc::clone(&shared);
    let listener = thread::spawn(move || {
        let mut seen = Seen::default();
        for value in receiver {
            let stock = atomically(|tx| theirs.stock.replace(tx, value));
            seen.note((value, stock));
        }
        seen.digest()
    });
    let theirs = Arc::clone(&shared);
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for _ in 0..200 {
            jitter();
            match dice.roll(6) {
                0 => {
                    let stock = theirs.stock.read_atomic();
                    *theirs.lock.lock().unwrap() ^= stock;
                }
                1 => {
                    // The lock is held around the transaction, not within.
                    let held = theirs.lock.lock().unwrap();
                    atomically(|tx| theirs.stock.modify(tx, |stock| (stock * 3 + *held) % 1009));
                }
                2 => {
                    let before = theirs.atomic.fetch_add(1, SeqCst);
                    atomically(|tx| theirs.stock.modify(tx, |stock| stock + before % 3));
                }
                3 => sender.send(me as u64).unwrap(),
                4 => {
                    atomically(|tx| {
                        let stock = theirs.stock.read(tx)?;
                        let sender = sender.clone();
                        tx.after_commit(move || sender.send(stock).unwrap());
                        Ok(())
                    });
                }
                _ => seen.note(atomically(|tx| {
                    theirs.log.modify(tx, |mut log| {
                        log.push(me as u64);
                        log.split_off(log.len().saturating_sub(9))
                    })?;
                    theirs.log.read(tx)
                })),
            }
        }
        seen.digest()
    });
    let listened = listener.join().unwrap();
    println!(
        "{digests:?} {listened} {} {}",
        shared.lock.lock().unwrap(),
        shared.stock.read_atomic()
    );
}

struct Clerk {
    me: u64,
    tickets: TVar<u64>,
    taken: TVar<u64>,
    seen: Seen,
}

impl Clerk {
    fn serve(&mut self, _: &mut Context<Clerk>) {
        jitter();
        let ticket = atomically(|tx| {
            let ticket = self.tickets.read(tx)?;
            self.tickets.write(tx, ticket + self.me)?;
            self.taken.modify(tx, |taken| taken + 1)?;
            Ok(ticket)
        });
        self.seen.note(ticket);
    }
}

/// Actors commit transactions, and a thread waits for what they have done together.
fn actors() {
    const CLERKS: u64 = 4;
    const ROUNDS: u64 = 50;
    let (tickets, taken) = (TVar::new(0), TVar::new(0));
    let clerks: Vec<_> = (1..=CLERKS)
        .map(|me| {
            spawn(Clerk {
                me,
                tickets: tickets.clone(),
                taken: taken.clone(),
                seen: Seen::default(),
            })
        })
        .collect();
    let waiter = {
        let (tickets, taken) = (tickets.clone(), taken.clone());
        thread::spawn(move || {
            (1..=CLERKS * ROUNDS)
                .map(|count| {
                    atomically(|tx| {
                        guard(taken.read(tx)? >= count)?;
                        tickets.read(tx)
                    })
                })
                .fold(Seen::default(), |mut seen, ticket| {
                    seen.note(ticket);
                    seen
                })
                .digest()
        })
    };
    for _ in 0..ROUNDS {
        for clerk in &clerks {
            clerk.send(|clerk, ctx| clerk.serve(ctx));
        }
        jitter();
    }
    let waited = waiter.join().unwrap();
    let digests: Vec<_> = clerks
        .iter()
        .map(|clerk| clerk.ask(|clerk, _| clerk.seen.digest()).wait().unwrap())
        .collect();
    System::current().wait_until_idle();
    println!("{waited} {digests:?} {}", tickets.read_atomic());
}
