//! Keeps recording and the program's signals from interfering with each other.

/// Runs `action` so that growing a file past the process's limit is an error and not a fatal SIGXFSZ.
pub(crate) fn without_file_size_signal<R>(action: impl FnOnce() -> R) -> R {
    // SAFETY: The signal sets are on this stack; only this thread's mask changes, and it is restored.
    unsafe {
        let mut blocked: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut blocked);
        libc::sigaddset(&mut blocked, libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, &blocked, &mut before);
        let result = action();
        if libc::sigismember(&before, libc::SIGXFSZ) == 0 {
            let now = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            libc::sigtimedwait(&blocked, std::ptr::null_mut(), &now);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        result
    }
}

/// Runs `action`, which starts a thread, so that the thread has every signal blocked: a signal that the program blocks
/// in all of its own threads, to wait for it, must not be delivered to ours and end the process. Except SIGBUS, which a
/// truncated live file raises on the thread that reads it.
pub(crate) fn blocked_in_new_thread<R>(action: impl FnOnce() -> R) -> R {
    // SAFETY: The signal sets are on this stack; only this thread's mask changes, and it is restored.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigdelset(&mut all, libc::SIGBUS);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let result = action();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        result
    }
}
