//! Tasks that are scheduled while a pool is being closed.

use super::*;

/// A task that counts its runs.
#[repr(C)]
struct Counting {
    task: Task,
    runs: AtomicU32,
}

impl Counting {
    fn new() -> &'static Counting {
        unsafe fn count(task: NonNull<Task>) {
            // SAFETY: The task is the first field of `Counting`, which is never freed.
            let this = unsafe { task.cast::<Counting>().as_ref() };
            this.runs.fetch_add(1, SeqCst);
        }
        Box::leak(Box::new(Counting {
            // SAFETY: `count` is only called with the address of a `Counting`, as `scheduled` returns it.
            task: unsafe { Task::new(count) },
            runs: AtomicU32::new(0),
        }))
    }

    fn scheduled(&'static self) -> Scheduled {
        Scheduled(NonNull::from(self).cast())
    }
}

/// ```text
/// sends  ── sees that it is open ──────────── queues
/// closes ─────────────────────────── closes ────────
/// ```
#[test]
fn a_task_that_is_queued_when_all_workers_have_ended_is_run() {
    let pool = Pool::new(NonZeroUsize::MIN);
    pool.close();
    let late = Counting::new();
    pool.shared.push_to_open(late.scheduled());
    assert_eq!(late.runs.load(SeqCst), 1);
    assert!(pool.shared.injector.is_empty());
}

/// The same with real threads, which often overlap.
#[test]
fn every_task_that_is_scheduled_while_a_pool_is_closed_is_run() {
    for _ in 0..200 {
        let pool = Pool::new(NonZeroUsize::MIN);
        let tasks: Vec<_> = (0..50).map(|_| Counting::new()).collect();
        std::thread::scope(|scope| {
            for half in tasks.chunks(25) {
                scope.spawn(move || {
                    for task in half {
                        // SAFETY: The task is never freed, and is scheduled once.
                        unsafe { pool.schedule(task.scheduled().0) };
                    }
                });
            }
            pool.close();
        });
        let runs: Vec<_> = tasks.iter().map(|task| task.runs.load(SeqCst)).collect();
        assert_eq!(runs, [1; 50]);
    }
}
