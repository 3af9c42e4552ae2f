//! Everything together: actors, threads, locks, atomics and channels.
//!
//! ```text
//! threads:   order → clerk ── wait for the answer, or not for long ── lock the till ── send to the audit (a channel)
//! clerks:    take stock (atomic) ── till (lock) ── ask the depot (pipelined) ── when … ── send to the audit
//! depot:     one that a promise stands for until a thread has opened it
//! ```

use std::time::Duration;

use reenact::{
    actor::{Context, FarRef, Promise, System, Target, spawn},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc::{Sender, channel},
    },
    thread,
};

use super::number;
use crate::support::{Seen, jitter};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "mixed" => mixed(number(arguments, 0)),
        _ => return false,
    }
    true
}

const THREADS: usize = 3;
const CLERKS: usize = 3;

struct Shop {
    till: Mutex<u64>,
    stock: AtomicU64,
}

#[derive(Default)]
struct Depot {
    seen: Seen,
    given: u64,
}

impl Depot {
    fn give(&mut self, clerk: usize, order: u64) -> u64 {
        self.given += 1;
        self.seen.note((clerk, order));
        self.given
    }
}

struct Clerk {
    me: usize,
    shop: Arc<Shop>,
    depot: Promise<FarRef<Depot>>,
    audit: Sender<(usize, u64)>,
    seen: Seen,
}

impl Clerk {
    fn order(&mut self, ctx: &mut Context<Clerk>, from: usize, order: u64) -> Promise<u64> {
        jitter();
        let stock = self.shop.stock.fetch_add(1, SeqCst);
        let mut till = self.shop.till.lock().unwrap();
        *till = till.wrapping_mul(31).wrapping_add(order);
        self.seen.note((from, order, stock, *till));
        drop(till);
        let me = self.me;
        let given = self.depot.ask(move |depot, _| depot.give(me, order));
        given.when(ctx, move |this, _, given| {
            this.seen.note(("given", from, order, given));
            let _ = this.audit.send((this.me, given));
            given
        })
    }
}

fn mixed(rounds: usize) {
    let shop = Arc::new(Shop {
        till: Mutex::new(0),
        stock: AtomicU64::new(0),
    });
    let (audit, audited) = channel();
    let (depot, opens) = Promise::pair();
    let clerks: Vec<_> = (0..CLERKS)
        .map(|me| {
            spawn(Clerk {
                me,
                shop: Arc::clone(&shop),
                depot: depot.clone(),
                audit: audit.clone(),
                seen: Seen::default(),
            })
        })
        .collect();
    drop(audit);
    let threads: Vec<_> = (0..THREADS)
        .map(|me| {
            let (clerks, shop) = (clerks.clone(), Arc::clone(&shop));
            let opens = opens.clone();
            thread::spawn(move || {
                customer(me, rounds, &clerks, &shop, || {
                    // All of them open it. Which depot it is in the end is up to the fastest.
                    opens.resolve(spawn(Depot {
                        given: 1000 * me as u64,
                        ..Depot::default()
                    }))
                })
            })
        })
        .collect();
    drop(opens);
    let auditor = thread::spawn(move || {
        let mut seen = Seen::default();
        for entry in audited {
            seen.note(entry);
        }
        seen.digest()
    });
    for thread in threads {
        println!("thread {:016x}", thread.join().unwrap());
    }
    for clerk in &clerks {
        let digest = clerk.ask(|this, _| this.seen.digest()).wait().unwrap();
        println!("clerk {digest:016x}");
    }
    let digest = depot.ask(|this, _| this.seen.digest()).wait().unwrap();
    println!("depot {digest:016x}");
    // With the clerks goes the channel.
    drop(clerks);
    println!("audit {:016x}", auditor.join().unwrap());
    println!("{} {:?}", shop.till.lock().unwrap(), shop.stock);
    System::current().wait_until_idle();
}

fn customer(
    me: usize,
    rounds: usize,
    clerks: &[FarRef<Clerk>],
    shop: &Shop,
    open: impl Fn() -> bool,
) -> u64 {
    let mut seen = Seen::default();
    for round in 0..rounds {
        let clerk = &clerks[(round + me) % CLERKS];
        let order = (round * THREADS + me) as u64;
        if round == rounds / 4 {
            seen.note(open());
        }
        let ordered = clerk
            .ask(move |this, ctx| this.order(ctx, me, order))
            .flatten();
        match round % 4 {
            // Nobody waits for a depot that nobody opens.
            0 if round > rounds / 4 => seen.note(ordered.wait().unwrap()),
            1 => match ordered.wait_timeout(Duration::from_micros(round as u64 % 100)) {
                Ok(given) => seen.note(given.unwrap()),
                Err(_) => seen.note("late"),
            },
            2 => {
                let mut till = shop.till.lock().unwrap();
                *till = till.wrapping_add(1);
                seen.note(*till);
            }
            _ => seen.note(shop.stock.load(SeqCst)),
        }
    }
    seen.digest()
}
