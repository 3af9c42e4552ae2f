//! Which events can be distinguished by their order, given that both can be next.

use super::Event::{self, *};

/// Symmetric.
pub(super) fn is_dependent(a: Event, b: Event) -> bool {
    is_dependent_one_way(a, b) || is_dependent_one_way(b, a)
}

fn is_dependent_one_way(a: Event, b: Event) -> bool {
    if let (Some((reads, writes)), Some((others_reads, others_writes))) =
        (footprint(a), footprint(b))
    {
        return writes & (others_reads | others_writes) != 0 || reads & others_writes != 0;
    }
    match (a, b) {
        (Lock(a), Lock(b) | TryLock(b) | FindLocked(b))
        | (TryLock(a), TryLock(b) | FindLocked(b) | Unlock(b))
        | (FindLocked(a), Unlock(b))
        | (Take(a), Take(b) | Look(b))
        | (Wait(a) | Notify(a), Notify(b))
        | (Set(a), Set(b) | Ask(b)) => a == b,
        (Send(a), Send(b) | TrySend(b) | FindFull(b) | TryReceive(b) | FindEmpty(b) | Close(b))
        | (TrySend(a), TrySend(b) | FindFull(b) | Receive(b) | TryReceive(b) | FindEmpty(b))
        | (TrySend(a), Close(b))
        | (SendOrGiveUp(a), SendOrGiveUp(b) | Send(b) | TrySend(b) | FindFull(b) | Receive(b))
        | (SendOrGiveUp(a), TryReceive(b) | FindEmpty(b) | Close(b))
        | (GiveUp(a), Receive(b) | TryReceive(b) | Close(b))
        | (FindFull(a), Receive(b) | TryReceive(b) | Close(b))
        | (Receive(a), Receive(b) | TryReceive(b) | FindEmpty(b) | FindEnd(b))
        | (TryReceive(a), TryReceive(b) | FindEmpty(b) | Close(b) | FindEnd(b))
        | (Close(a), FindEmpty(b) | Close(b) | FindClosed(b) | FindEnd(b)) => a == b,
        _ => false,
    }
}

/// The variables that are read and written.
fn footprint(event: Event) -> Option<(u8, u8)> {
    match event {
        Read(variable) => Some((1 << variable, 0)),
        Write(variable) => Some((0, 1 << variable)),
        Transaction { reads, writes } => Some((reads, writes)),
        _ => None,
    }
}
