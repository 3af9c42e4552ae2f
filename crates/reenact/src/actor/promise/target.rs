//! Sending to a promise: messages for an actor that is not known yet.

use std::panic::Location;

use reenact_engine::Ticket;

use super::{
    super::{
        Target,
        message::{Message, Request},
        ops,
    },
    Broken, FarRef, Phase, Promise,
};

impl<A: Send + 'static> Target<A> for Promise<FarRef<A>> {
    #[track_caller]
    fn send_message<M: Message<A, Answer = ()>>(&self, message: M) {
        let (ticket, site) = (Ticket::draw(), Location::caller());
        self.forward(move |outcome| {
            if let Ok(actor) = outcome {
                let _ = actor.cell().send_numbered(ticket.address(), site, message);
            }
        });
    }

    #[track_caller]
    fn ask_message<M, R>(&self, message: M) -> Promise<R>
    where
        M: Message<A, Answer = R>,
        R: Send + 'static,
    {
        let (ticket, site) = (Ticket::draw(), Location::caller());
        let (promise, debt) = Promise::owed();
        self.forward(move |outcome| match outcome {
            Ok(actor) => {
                let message = Request { message, debt };
                let _ = actor.cell().send_numbered(ticket.address(), site, message);
            }
            Err(broken) => debt.settle(Err(broken)),
        });
        promise
    }
}

impl<A: Send + 'static> Promise<FarRef<A>> {
    /// Delivers a message when the promise is settled; at once if it already is.
    fn forward(&self, deliver: impl FnOnce(Result<FarRef<A>, Broken>) + Send + 'static) {
        self.shared.is_met(ops::SUBSCRIBE);
        let mut state = self.shared.state();
        state.clone = Some(FarRef::clone);
        match &state.phase {
            Phase::Open | Phase::Following | Phase::Notifying => {
                state.messages.push(Box::new(deliver));
            }
            Phase::Settled(_) | Phase::Taken => {
                let outcome = state.value();
                drop(state);
                deliver(outcome);
            }
        }
    }
}
