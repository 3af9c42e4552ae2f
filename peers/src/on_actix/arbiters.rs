//! The threads of actix, and which actor goes where.

use actix::{Actor, Addr, Arbiter, ArbiterHandle, Context};

/// The arbiters that actors are started on. The first is the system's own, on which the main
/// program runs, and it is from there that actors are started.
pub(super) struct Arbiters {
    others: Vec<ArbiterHandle>,
}

impl Arbiters {
    /// Starts the arbiters that are missing. Their threads live as long as the process.
    pub(super) fn start(count: usize) -> Self {
        let others = (1..count).map(|_| Arbiter::new().handle()).collect();
        Self { others }
    }

    /// Starts so many actors of a kind, each made of its index.
    pub(super) fn start_all<A>(
        &self,
        count: usize,
        actor: impl Fn(usize) -> A,
    ) -> impl Iterator<Item = Addr<A>>
    where
        A: Actor<Context = Context<A>> + Send,
    {
        (0..count).map(move |index| self.start_actor(index, count, actor(index)))
    }

    /// Starts the actor with this index among `count` of its kind, which are spread in equal blocks.
    pub(super) fn start_actor<A>(&self, index: usize, count: usize, actor: A) -> Addr<A>
    where
        A: Actor<Context = Context<A>> + Send,
    {
        let arbiter = index * (self.others.len() + 1) / count;
        if arbiter == 0 {
            // The caller is on it, so that it needs no message to the event loop.
            actor.start()
        } else {
            A::start_in_arbiter(&self.others[arbiter - 1], move |_| actor)
        }
    }
}
