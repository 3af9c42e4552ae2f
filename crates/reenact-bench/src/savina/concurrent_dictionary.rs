//! ConcurrentDictionary: workers read and write one dictionary, by requests that are answered.
//!
//! A worker has one request at a time. Each request has two messages, itself and the turn that its answer causes;
//! two more per worker are the start and the end of its work.

use std::collections::BTreeMap;

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use crate::{Measured, Setting, random::Random};

const WORKERS: u64 = 20;
const MESSAGES: u64 = 1_000;
const ENLARGED: u64 = 45;
const KEYS: u64 = 4_096;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    let messages = setting.times(MESSAGES * ENLARGED);
    let expected = (0..WORKERS).map(|worker| Tally::of_worker(worker, messages));
    let expected = expected.fold(Tally::default(), Tally::plus);
    Measured::around(|| {
        let (tally, report) = Promise::pair();
        let master = system.spawn(Master {
            working: WORKERS,
            asked: Tally::default(),
            dictionary: system.spawn(Dictionary {
                entries: (0..KEYS).map(|key| (key, key)).collect(),
                handled: Tally::default(),
            }),
            report,
        });
        master.start(messages);
        let (asked, handled) = tally.wait().unwrap();
        assert_eq!(asked, expected, "what the workers had answers to");
        assert_eq!(handled, expected, "what the dictionary handled");
        (2 * messages + 2) * WORKERS + 2
    })
}

const WRITE_PERCENT: u64 = 20;

/// What a worker wants: to read what is under a key, or to write it.
struct Request {
    key: u64,
    value: Option<u64>,
}

impl Request {
    /// A value says by its remainder which key it belongs to.
    fn next(random: &mut Random) -> Request {
        let write = random.below(100) < WRITE_PERCENT;
        let key = random.below(KEYS);
        let value = write.then(|| key + KEYS * random.below(1 << 20));
        Request { key, value }
    }
}

/// What was asked of the dictionary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally {
    reads: u64,
    writes: u64,
    sum_of_written: u64,
}

impl Tally {
    fn of_worker(worker: u64, messages: u64) -> Tally {
        let mut random = Random::new(worker);
        let requests = (0..messages).map(|_| Request::next(&mut random));
        requests.fold(Tally::default(), |tally, request| {
            tally.plus(Tally::of(request.value))
        })
    }

    fn of(written: Option<u64>) -> Tally {
        Tally {
            reads: written.is_none().into(),
            writes: written.is_some().into(),
            sum_of_written: written.unwrap_or(0),
        }
    }

    fn plus(self, other: Tally) -> Tally {
        Tally {
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            sum_of_written: self.sum_of_written + other.sum_of_written,
        }
    }
}

struct Master {
    working: u64,
    asked: Tally,
    dictionary: FarRef<Dictionary>,
    report: Resolver<(Tally, Tally)>,
}

#[reenact::actor]
impl Master {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>, messages: u64) {
        for worker in 0..WORKERS {
            let worker = ctx.spawn(Worker {
                random: Random::new(worker),
                left: messages,
                asked: Tally::default(),
                dictionary: self.dictionary.clone(),
                master: ctx.me(),
            });
            worker.do_work();
        }
    }

    pub(super) fn end_work(&mut self, ctx: &mut Context<Self>, asked: Tally) {
        self.asked = self.asked.plus(asked);
        self.working -= 1;
        if self.working == 0 {
            self.dictionary.handled().when(ctx, |this, _, handled| {
                this.report.resolve((this.asked, handled));
            });
        }
    }
}

struct Worker {
    random: Random,
    left: u64,
    asked: Tally,
    dictionary: FarRef<Dictionary>,
    master: FarRef<Master>,
}

#[reenact::actor]
impl Worker {
    pub(super) fn do_work(&mut self, ctx: &mut Context<Self>) {
        if self.left == 0 {
            self.master.end_work(self.asked);
            return;
        }
        self.left -= 1;
        let Request { key, value } = Request::next(&mut self.random);
        let answer = match value {
            Some(value) => self.dictionary.write(key, value),
            None => self.dictionary.read(key),
        };
        answer.when(ctx, move |this, ctx, result| {
            assert_eq!(result % KEYS, key, "the value of another key");
            this.asked = this.asked.plus(Tally::of(value));
            this.do_work(ctx);
        });
    }
}

struct Dictionary {
    entries: BTreeMap<u64, u64>,
    handled: Tally,
}

#[reenact::actor]
impl Dictionary {
    /// Answers with what was there before.
    pub(super) fn write(&mut self, key: u64, value: u64) -> u64 {
        self.handled = self.handled.plus(Tally::of(Some(value)));
        self.entries.insert(key, value).unwrap_or(key)
    }

    pub(super) fn read(&mut self, key: u64) -> u64 {
        self.handled = self.handled.plus(Tally::of(None));
        self.entries.get(&key).copied().unwrap_or(key)
    }

    pub(super) fn handled(&self) -> Tally {
        self.handled
    }
}
