//! Tasks that come while a pool is closed.

use super::*;

/// Counts how often it was run.
#[repr(C)]
struct Counting {
    task: Task,
    runs: AtomicU32,
}

impl Counting {
    fn new() -> &'static Counting {
        unsafe fn count(task: NonNull<Task>) {
            // SAFETY: The task is at the beginning of this, which is never freed.
            let this = unsafe { task.cast::<Counting>().as_ref() };
            this.runs.fetch_add(1, SeqCst);
        }
        Box::leak(Box::new(Counting {
            // SAFETY: For no other address is it scheduled.
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

/// The same with real threads, as often as not at the same time.
#[test]
fn every_task_that_is_scheduled_while_a_pool_is_closed_is_run() {
    for _ in 0..200 {
        let pool = Pool::new(NonZeroUsize::MIN);
        let tasks: Vec<_> = (0..50).map(|_| Counting::new()).collect();
        std::thread::scope(|scope| {
            for half in tasks.chunks(25) {
                scope.spawn(move || {
                    for task in half {
                        // SAFETY: It lives on, and is scheduled once.
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
