//! The names of accesses.

use super::Access;

impl Access {
    /// All accesses; the index of each is its code.
    pub(super) const ALL: [Access; 26] = [
        Access::Take,
        Access::TryTake,
        Access::Look,
        Access::TryLook,
        Access::Release,
        Access::Read,
        Access::Write,
        Access::Send,
        Access::TrySend,
        Access::Receive,
        Access::TryReceive,
        Access::SendTimeout,
        Access::ReceiveTimeout,
        Access::DropSender,
        Access::DropReceiver,
        Access::Wait,
        Access::Wake { timed: false },
        Access::Wake { timed: true },
        Access::Notify { all: false },
        Access::Notify { all: true },
        Access::Transact,
        Access::Ask,
        Access::Choose,
        Access::Outside,
        Access::Queue,
        Access::Own,
    ];

    /// Returns its name in the formats that programs exchange.
    pub fn name(self) -> &'static str {
        match self {
            Access::Take => "take",
            Access::TryTake => "try-take",
            Access::Look => "look",
            Access::TryLook => "try-look",
            Access::Release => "release",
            Access::Read => "read",
            Access::Write => "write",
            Access::Send => "send",
            Access::TrySend => "try-send",
            Access::Receive => "receive",
            Access::TryReceive => "try-receive",
            Access::SendTimeout => "send-timeout",
            Access::ReceiveTimeout => "receive-timeout",
            Access::DropSender => "drop-sender",
            Access::DropReceiver => "drop-receiver",
            Access::Wait => "wait",
            Access::Wake { timed: false } => "wake",
            Access::Wake { timed: true } => "wake-timed",
            Access::Notify { all: false } => "notify-one",
            Access::Notify { all: true } => "notify-all",
            Access::Transact => "transact",
            Access::Ask => "ask",
            Access::Choose => "choose",
            Access::Outside => "outside",
            Access::Queue => "queue",
            Access::Own => "own",
        }
    }

    /// Returns the access with this name.
    pub fn from_name(name: &str) -> Option<Access> {
        let mut all = Access::ALL.into_iter();
        all.find(|access| access.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_access_is_found_by_its_name() {
        for access in Access::ALL {
            assert_eq!(Access::from_name(access.name()), Some(access));
        }
        assert_eq!(Access::from_name("borrow"), None);
    }
}
