//! Schedules are kept, tried first, and followed even when the program has changed.

use std::{fmt, fs};

use reenact::{
    actor::Target,
    explore::{DivergencePoint, Explorer, Strategy},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use super::failures::lost_update;

#[test]
fn what_has_failed_is_tried_first_until_it_is_mended() {
    let directory = tempfile::tempdir().unwrap();
    let explorer = Explorer::new().keep(directory.path(), "module::test");
    let failed = explorer.try_check(lost_update).unwrap_err();
    let file = failed.file().expect("it is kept").to_owned();
    assert_eq!(file.file_name().unwrap(), "module.test.1.schedule");
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("reenact schedule 1\n; module::test\n; main panicked at"),
        "{text}"
    );

    let again = explorer
        .clone()
        .executions(1)
        .try_check(lost_update)
        .unwrap_err();
    assert_eq!(
        again.file(),
        Some(&*file),
        "the one that is there is found first"
    );
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);

    fs::write(directory.path().join("module.test.2.schedule"), "not one").unwrap();
    let mended = explorer.try_check(no_lost_update);
    assert!(mended.expect("it is mended").is_complete);
}

/// Two threads that each add one, in one step.
pub(crate) fn no_lost_update() {
    let x = Arc::new(AtomicUsize::new(0));
    let y = Arc::clone(&x);
    let thread = thread::spawn(move || y.fetch_add(1, SeqCst));
    x.fetch_add(1, SeqCst);
    thread.join().unwrap();
    assert_eq!(x.load(SeqCst), 2);
}

/// The same bug, with more around it, and other lines.
#[test]
fn a_schedule_survives_what_has_nothing_to_do_with_it() {
    let failed = Explorer::new().try_check(lost_update).unwrap_err();
    let follow = Explorer::new().strategy(Strategy::Schedule(failed.schedule().clone()));
    let changed = || {
        let x = Arc::new(AtomicUsize::new(0));
        let log = Arc::new(Mutex::new(Vec::new()));
        log.lock().unwrap().push("begin");
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (x, log) = (Arc::clone(&x), Arc::clone(&log));
                thread::spawn(move || {
                    log.lock().unwrap().push("load");
                    let now = x.load(SeqCst);
                    log.lock().unwrap().push("store");
                    x.store(now + 1, SeqCst);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(x.load(SeqCst), 2, "an update is lost");
    };
    let again = follow
        .try_check(changed)
        .expect_err("it still fails that way");
    assert!(again.to_string().contains("an update is lost"), "{again}");
    let finding = follow.run(changed);
    let divergence = finding.divergence.expect("it is said that it has changed");
    assert_eq!(divergence.point, DivergencePoint::Step(0), "{divergence}");

    let finding = follow.run(|| {});
    let divergence = finding
        .divergence
        .expect("nothing is left of it")
        .to_string();
    assert!(
        divergence.contains("there is no main.") || divergence.contains("main has ended"),
        "{divergence}"
    );
}

/// What cannot be shown without an operation.
struct Note(Arc<Mutex<u32>>);

impl fmt::Debug for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.lock().unwrap())
    }
}

#[derive(Debug)]
struct Account {
    balance: u32,
}

#[reenact::actor]
impl Account {
    pub(crate) fn deposit(&mut self, amount: u32, _note: Note) {
        self.balance += amount;
    }

    pub(crate) fn balance(&self) -> u32 {
        self.balance
    }
}

/// main: balance()
/// thread: deposit(50), sometimes before that
#[test]
fn a_schedule_says_which_messages_are_sent_and_handled() {
    let program = || {
        let account = reenact::actor::spawn(Account { balance: 100 });
        let other = account.clone();
        let note = Note(Arc::new(Mutex::new(1)));
        let thread = thread::spawn(move || other.deposit(50, note));
        let asked = account.balance();
        let closure = account.ask(|account, _ctx| account.balance);
        assert_eq!(asked.wait().unwrap(), closure.wait().unwrap());
        thread.join().unwrap();
    };
    let failed = Explorer::new().try_check(program).unwrap_err();
    let lines: Vec<_> = failed.schedule().lines.iter().collect();
    let has = |who: &str, what: &str, is_placed: bool| {
        lines.iter().any(|line| {
            let is_here = line.site.contains("schedules.rs");
            line.who == who && line.what.starts_with(what) && is_here == is_placed
        })
    };
    assert!(
        has("main.0", "send a message: deposit(50, _)", true),
        "{failed}"
    );
    assert!(has("main", "send a message: balance()", true), "{failed}");
    let closure = "a_schedule_says_which_messages_are_sent_and_handled::closure";
    assert!(
        has("main", &format!("send a message: {closure}"), true),
        "{failed}"
    );
    let handled = "handle a message: deposit(50, _) from main.0 at ";
    assert!(has("main.a0", handled, false), "{failed}");
    // It is followed whatever messages are called now.
    let mut schedule = failed.schedule().clone();
    for line in &mut schedule.lines {
        line.what = line.operation().to_owned();
    }
    let follow = Explorer::new().strategy(Strategy::Schedule(schedule));
    let again = follow.try_check(program).unwrap_err();
    assert!(again.to_string().contains("panicked"), "{again}");
}
