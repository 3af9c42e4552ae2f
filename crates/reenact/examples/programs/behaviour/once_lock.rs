//! `OnceLock`.

use super::{
    Behaviours, behaviours, panic_of,
    subject::{
        sync::{Arc, OnceLock},
        thread,
    },
};

pub(super) const ALL: Behaviours = behaviours![
    it_is_set_once,
    it_is_made_once,
    all_see_the_same,
    a_panic_leaves_it_empty,
    it_can_be_waited_for,
    what_is_in_it_can_be_taken_out,
    it_can_be_copied_and_compared,
    it_can_be_shown,
];

#[cfg_attr(test, test)]
fn it_is_set_once() {
    static CELL: OnceLock<u8> = OnceLock::new();
    CELL.get();
    let cell = OnceLock::new();
    assert_eq!(cell.get(), None);
    assert_eq!(cell.set(1), Ok(()));
    assert_eq!(cell.set(2), Err(2));
    assert_eq!(cell.get(), Some(&1));
}

#[cfg_attr(test, test)]
fn it_is_made_once() {
    let cell = OnceLock::new();
    assert_eq!(cell.get_or_init(|| 1), &1);
    assert_eq!(cell.get_or_init(|| panic!("not run")), &1);
}

#[cfg_attr(test, test)]
fn all_see_the_same() {
    let cell = Arc::new(OnceLock::new());
    let threads: Vec<_> = (0..4)
        .map(|me| {
            let cell = Arc::clone(&cell);
            thread::spawn(move || *cell.get_or_init(|| me))
        })
        .collect();
    let seen: Vec<usize> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert!(seen.iter().all(|seen| Some(seen) == cell.get()));
}

#[cfg_attr(test, test)]
fn a_panic_leaves_it_empty() {
    let cell = OnceLock::new();
    panic_of(|| *cell.get_or_init(|| panic!("cannot be made")));
    assert_eq!(cell.get(), None::<&u8>);
    assert_eq!(cell.get_or_init(|| 3), &3);
}

#[cfg_attr(test, test)]
fn it_can_be_waited_for() {
    let cell = Arc::new(OnceLock::new());
    let theirs = Arc::clone(&cell);
    let thread = thread::spawn(move || theirs.set(5).unwrap());
    assert_eq!(cell.wait(), &5);
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn what_is_in_it_can_be_taken_out() {
    let mut cell = OnceLock::from(String::from("a"));
    cell.get_mut().unwrap().push('b');
    assert_eq!(cell.take(), Some("ab".to_owned()));
    assert_eq!(cell.take(), None);
    assert_eq!(cell.get_mut(), None);
    cell.set(String::from("c")).unwrap();
    assert_eq!(cell.into_inner(), Some("c".to_owned()));
    assert_eq!(OnceLock::<u8>::default().into_inner(), None);
}

#[cfg_attr(test, test)]
fn it_can_be_copied_and_compared() {
    let (full, empty) = (OnceLock::from(1), OnceLock::new());
    assert_eq!(full.clone(), full);
    assert_eq!(empty.clone(), empty);
    assert_ne!(full, empty);
}

#[cfg_attr(test, test)]
fn it_can_be_shown() {
    assert_eq!(format!("{:?}", OnceLock::<u8>::new()), "OnceLock(<uninit>)");
    assert_eq!(format!("{:?}", OnceLock::from(1)), "OnceLock(1)");
}
