//! Atomics.

use super::{
    Behaviours, behaviours, panic_of,
    subject::sync::atomic::{
        AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
        AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
        Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
        compiler_fence, fence,
    },
};

pub(super) const ALL: Behaviours = behaviours![
    they_can_be_made_in_constants,
    integers_compute_and_wrap_around,
    booleans_compute,
    pointers_point,
    pointers_move,
    impossible_orders_panic,
];

#[cfg_attr(test, test)]
fn they_can_be_made_in_constants() {
    static FLAG: AtomicBool = AtomicBool::new(true);
    static NUMBER: AtomicU64 = AtomicU64::new(u64::MAX);
    static NOTHING: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    assert!(
        FLAG.load(Acquire) && NUMBER.load(SeqCst) == u64::MAX && NOTHING.load(Relaxed).is_null()
    );
    fence(SeqCst);
    compiler_fence(SeqCst);
}

macro_rules! check_integer {
    ($($atomic:ident $integer:ident)*) => {$({
        let number = $atomic::new($integer::MAX);
        assert_eq!(number.fetch_add(1, SeqCst), $integer::MAX);
        assert_eq!(number.fetch_sub(1, AcqRel), $integer::MIN);
        assert_eq!(number.swap(0b1100, Acquire), $integer::MAX);
        assert_eq!(number.fetch_and(0b0101, Release), 0b1100);
        assert_eq!(number.fetch_or(0b0011, Relaxed), 0b0100);
        assert_eq!(number.fetch_xor(0b0101, SeqCst), 0b0111);
        assert_eq!(number.fetch_nand(0b0110, SeqCst), 0b0010);
        assert_eq!(number.load(SeqCst), !0b0010);
        number.store(5, Release);
        assert_eq!(number.fetch_max(3, SeqCst), 5);
        assert_eq!(number.fetch_max(8, SeqCst), 5);
        assert_eq!(number.fetch_min(9, SeqCst), 8);
        assert_eq!(number.fetch_min(2, SeqCst), 8);
        assert_eq!(number.compare_exchange(2, 4, AcqRel, Acquire), Ok(2));
        assert_eq!(number.compare_exchange(2, 6, SeqCst, Relaxed), Err(4));
        while number.compare_exchange_weak(4, 6, Release, Relaxed).is_err() {}
        assert_eq!(number.fetch_update(SeqCst, SeqCst, |now| now.checked_add(1)), Ok(6));
        assert_eq!(number.fetch_update(SeqCst, SeqCst, |_| None), Err(7));
        assert_eq!(format!("{number:?}"), "7");
        let mut number = number;
        *number.get_mut() += 1;
        assert_eq!(number.into_inner(), 8);
        assert_eq!($atomic::from(3).into_inner() + $atomic::default().into_inner(), 3);
        let mut number = $atomic::new($integer::MIN);
        // SAFETY: Nobody else has it.
        unsafe { *number.as_ptr() += 1 };
        assert_eq!(number.load(Relaxed), $integer::MIN + 1);
        *number.get_mut() = 3;
        assert_eq!(number.load(Relaxed), 3);
    })*};
}

#[cfg_attr(test, test)]
fn integers_compute_and_wrap_around() {
    check_integer! { AtomicI8 i8 AtomicI16 i16 AtomicI32 i32 AtomicI64 i64 AtomicIsize isize }
    check_integer! { AtomicU8 u8 AtomicU16 u16 AtomicU32 u32 AtomicU64 u64 AtomicUsize usize }
    let negative = AtomicI8::new(-5);
    assert_eq!(negative.fetch_max(-9, SeqCst), -5);
    assert_eq!(negative.fetch_min(-9, SeqCst), -5);
    assert_eq!(negative.load(SeqCst), -9);
}

#[cfg_attr(test, test)]
fn booleans_compute() {
    for (was, with) in [(false, false), (false, true), (true, false), (true, true)] {
        let after = |compute: fn(&AtomicBool, bool) -> bool| {
            let flag = AtomicBool::new(was);
            assert_eq!(compute(&flag, with), was);
            flag.load(SeqCst)
        };
        assert_eq!(after(|flag, with| flag.fetch_and(with, SeqCst)), was & with);
        assert_eq!(after(|flag, with| flag.fetch_or(with, SeqCst)), was | with);
        assert_eq!(after(|flag, with| flag.fetch_xor(with, SeqCst)), was ^ with);
        assert_eq!(
            after(|flag, with| flag.fetch_nand(with, SeqCst)),
            !(was & with)
        );
        assert_eq!(after(|flag, _| flag.fetch_not(SeqCst)), !was);
        assert_eq!(after(|flag, with| flag.swap(with, SeqCst)), with);
    }
    let flag = AtomicBool::default();
    assert_eq!(
        flag.compare_exchange(true, false, SeqCst, SeqCst),
        Err(false)
    );
    assert_eq!(
        flag.compare_exchange(false, true, SeqCst, SeqCst),
        Ok(false)
    );
    assert_eq!(
        flag.fetch_update(SeqCst, SeqCst, |now| Some(!now)),
        Ok(true)
    );
    assert_eq!(
        format!("{flag:?} {:?}", AtomicBool::from(true)),
        "false true"
    );
}

#[cfg_attr(test, test)]
fn pointers_point() {
    let (mut first, mut second) = (1, 2);
    let (first, second): (*mut i32, *mut i32) = (&mut first, &mut second);
    let pointer = AtomicPtr::new(first);
    assert_eq!(pointer.load(SeqCst), first);
    assert_eq!(pointer.swap(second, SeqCst), first);
    assert_eq!(
        pointer.compare_exchange(first, second, SeqCst, SeqCst),
        Err(second)
    );
    assert_eq!(
        pointer.compare_exchange(second, first, SeqCst, SeqCst),
        Ok(second)
    );
    assert_eq!(
        pointer.fetch_update(SeqCst, SeqCst, |_| Some(second)),
        Ok(first)
    );
    // SAFETY: What it points to is there.
    assert_eq!(unsafe { *pointer.load(SeqCst) }, 2);
    pointer.store(std::ptr::null_mut(), SeqCst);
    let mut pointer = pointer;
    assert!(pointer.get_mut().is_null());
    assert_eq!(pointer.into_inner(), AtomicPtr::default().into_inner());
    assert_eq!(AtomicPtr::from(first).into_inner(), first);
}

#[cfg_attr(test, test)]
fn pointers_move() {
    let mut list = [1u32, 2, 3];
    let start = list.as_mut_ptr();
    let pointer = AtomicPtr::new(start);
    assert_eq!(pointer.fetch_ptr_add(2, SeqCst), start);
    // SAFETY: It points into the list.
    assert_eq!(unsafe { *pointer.load(SeqCst) }, 3);
    assert_eq!(pointer.fetch_ptr_sub(1, SeqCst), start.wrapping_add(2));
    assert_eq!(pointer.fetch_byte_add(4, SeqCst), start.wrapping_add(1));
    assert_eq!(pointer.fetch_byte_sub(8, SeqCst), start.wrapping_add(2));
    assert_eq!(pointer.fetch_or(1, SeqCst), start);
    assert_eq!(pointer.fetch_xor(3, SeqCst), start.wrapping_byte_add(1));
    assert_eq!(pointer.fetch_and(!3, SeqCst), start.wrapping_byte_add(2));
    assert_eq!(pointer.load(SeqCst), start);
}

#[cfg_attr(test, test)]
fn impossible_orders_panic() {
    let number = AtomicU8::new(1);
    #[allow(invalid_atomic_ordering)]
    let load = || number.load(Release);
    #[allow(invalid_atomic_ordering)]
    let store = || number.store(1, Acquire);
    #[allow(invalid_atomic_ordering)]
    let exchange = || number.compare_exchange(1, 2, SeqCst, Release);
    panic_of(load);
    panic_of(store);
    panic_of(exchange);
    assert_eq!(number.load(SeqCst), 1, "and can be used afterwards");
    number.store(2, SeqCst);
    assert_eq!(number.fetch_add(1, SeqCst), 2);
}
