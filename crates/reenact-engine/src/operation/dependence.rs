//! Which accesses of one object are dependent, so that their order can be observed.

use super::Access;

impl Access {
    /// Returns its code.
    #[inline]
    pub(crate) const fn code(self) -> u8 {
        match self {
            Access::Take => 0,
            Access::TryTake => 1,
            Access::Look => 2,
            Access::TryLook => 3,
            Access::Release => 4,
            Access::Read => 5,
            Access::Write => 6,
            Access::Send => 7,
            Access::TrySend => 8,
            Access::Receive => 9,
            Access::TryReceive => 10,
            Access::SendTimeout => 11,
            Access::ReceiveTimeout => 12,
            Access::DropSender => 13,
            Access::DropReceiver => 14,
            Access::Wait => 15,
            Access::Wake { timed: false } => 16,
            Access::Wake { timed: true } => 17,
            Access::Notify { all: false } => 18,
            Access::Notify { all: true } => 19,
            Access::Transact => 20,
            Access::Ask => 21,
            Access::Choose => 22,
            Access::Outside => 23,
            Access::Queue => 24,
            Access::Own => 25,
        }
    }

    /// Returns whether the order of the two can be observed, if they use the same object and either can be next.
    #[inline]
    pub(crate) fn conflicts(self, other: Access) -> bool {
        CONFLICTS[self.code() as usize] & 1 << other.code() != 0
    }

    /// Returns whether every access that conflicts with `other` also conflicts with this one, so that what comes after
    /// this one also comes after an earlier `other`.
    #[inline]
    pub(crate) fn stands_for(self, other: Access) -> bool {
        let (this, other) = (self.code() as usize, other.code() as usize);
        CONFLICTS[other] & !CONFLICTS[this] == 0 || this == other
    }

    /// Computes [`Access::conflicts`].
    const fn do_conflict(self, other: Access) -> bool {
        use Access::*;
        match (self, other) {
            (Look | TryLook, Look | TryLook) => false,
            (Take | Look | TryTake | TryLook, Take | Look | TryTake | TryLook) => true,
            (Release, TryTake | TryLook) | (TryTake | TryLook, Release) => true,
            (Queue, Look | TryLook) | (Look | TryLook, Queue) => true,
            (Read, Read) => false,
            (Read | Write, Read | Write) => true,
            // An exclusive holder may change the value that the object guards, and a look may see it.
            (Read | Write, Take | TryTake) | (Take | TryTake, Read | Write) => true,
            (Write, Look | TryLook) | (Look | TryLook, Write) => true,
            (Send | TrySend, Send | TrySend) | (Receive | TryReceive, Receive | TryReceive) => true,
            (TrySend, Receive | TryReceive) | (Receive | TryReceive, TrySend) => true,
            (TryReceive, Send) | (Send, TryReceive) => true,
            (DropSender, TryReceive) | (TryReceive, DropSender) => true,
            (ReceiveTimeout, Send | TrySend | DropSender)
            | (Send | TrySend | DropSender, ReceiveTimeout) => true,
            (SendTimeout, Receive | TryReceive | DropReceiver)
            | (Receive | TryReceive | DropReceiver, SendTimeout) => true,
            (DropReceiver, Send | TrySend) | (Send | TrySend, DropReceiver) => true,
            (Wait | Wake { timed: true } | Notify { .. }, Notify { .. })
            | (Notify { .. }, Wait | Wake { timed: true }) => true,
            (Transact, Transact) => true,
            _ => false,
        }
    }
}

/// For each access, a bit for each access that it conflicts with.
const CONFLICTS: [u32; Access::ALL.len()] = {
    const COUNT: usize = Access::ALL.len();
    let mut conflicts = [0; COUNT];
    let mut one = 0;
    while one < COUNT {
        assert!(Access::ALL[one].code() as usize == one, "in their order");
        let mut other = 0;
        while other < COUNT {
            let do_conflict = Access::ALL[one].do_conflict(Access::ALL[other]);
            assert!(
                Access::ALL[other].do_conflict(Access::ALL[one]) == do_conflict,
                "either way"
            );
            conflicts[one] |= (do_conflict as u32) << other;
            other += 1;
        }
        one += 1;
    }
    conflicts
};
