//! A pool of threads with a queue of jobs.

use std::{collections::VecDeque, fmt, time::Duration};

use super::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{Builder, JoinHandle},
};

type Job = Box<dyn FnOnce(usize) + Send + 'static>;

struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

struct Inner {
    queue: Mutex<Queue>,
    available: Condvar,
    idle: Condvar,
    running: AtomicUsize,
}

impl Inner {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("a job panicked with the queue")
    }

    fn work(&self, worker: usize) {
        loop {
            let job = {
                let guard = self.queue();
                let mut guard = self
                    .available
                    .wait_while(guard, |queue| queue.jobs.is_empty() && !queue.closed)
                    .unwrap();
                match guard.jobs.pop_front() {
                    Some(job) => {
                        self.running.fetch_add(1, Ordering::SeqCst);
                        job
                    }
                    None => return,
                }
            };
            job(worker);
            self.running.fetch_sub(1, Ordering::SeqCst);
            let _guard = self.queue();
            self.idle.notify_all();
        }
    }
}

/// The pool itself. Dropping it waits for the jobs.
pub struct ThreadPool {
    inner: Arc<Inner>,
    workers: Vec<JoinHandle<()>>,
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("workers", &self.workers.len())
            .finish()
    }
}

impl ThreadPool {
    pub fn new(size: usize) -> Self {
        assert!(size > 0);
        let inner = Arc::new(Inner {
            queue: Mutex::new(Queue {
                jobs: VecDeque::new(),
                closed: false,
            }),
            available: Condvar::new(),
            idle: Condvar::new(),
            running: AtomicUsize::new(0),
        });
        let workers = (0..size)
            .map(|worker| {
                let inner = Arc::clone(&inner);
                Builder::new()
                    .name(format!("pool-{worker}"))
                    .spawn(move || inner.work(worker))
                    .expect("cannot start a worker")
            })
            .collect();
        ThreadPool { inner, workers }
    }

    pub fn execute<F: FnOnce(usize) + Send + 'static>(&self, job: F) {
        self.inner.queue().jobs.push_back(Box::new(job));
        self.inner.available.notify_one();
    }

    /// Waits until nothing is to be done. Returns how often it had to look.
    pub fn wait(&self) -> usize {
        let mut looks = 0;
        let mut queue = self.inner.queue();
        while !queue.jobs.is_empty() || self.inner.running.load(Ordering::SeqCst) > 0 {
            looks += 1;
            queue = self
                .inner
                .idle
                .wait_timeout(queue, Duration::from_micros(50))
                .unwrap()
                .0;
        }
        looks
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.inner.queue().closed = true;
        self.inner.available.notify_all();
        for worker in self.workers.drain(..) {
            worker.join().unwrap();
        }
    }
}

static SQUARES: OnceLock<Vec<u64>> = OnceLock::new();

pub fn run() -> (String, String) {
    let pool = ThreadPool::new(3);
    let sum = Arc::new(Mutex::new(0u64));
    let log = Arc::new(Mutex::new(Vec::new()));
    for number in 0..100 {
        let (sum, log) = (sum.clone(), log.clone());
        pool.execute(move |worker| {
            let squares = SQUARES.get_or_init(|| (0..100).map(|n| n * n).collect());
            *sum.lock().unwrap() += squares[number];
            log.lock().unwrap().push((worker, number));
        });
    }
    let looks = pool.wait();
    let shown = format!("{pool:?}");
    drop(pool);
    let log = log.lock().unwrap();
    let result = format!("{} {} {shown}", sum.lock().unwrap(), log.len());
    (result, format!("{looks} {log:?}"))
}
