//! Sending to a promise: messages for an actor that is not known yet.

use reenact_engine::Ticket;

use super::{
    super::{Target, ops},
    Broken, Context, FarRef, Phase, Promise,
};

impl<A: Send + 'static> Target<A> for Promise<FarRef<A>> {
    #[track_caller]
    fn send<F>(&self, message: F)
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        let ticket = Ticket::draw();
        self.forward(move |outcome| {
            if let Ok(actor) = outcome {
                let _ = actor.cell().send_numbered(ticket.address(), message);
            }
        });
    }

    #[track_caller]
    fn ask<F, R>(&self, message: F) -> Promise<R>
    where
        F: FnOnce(&mut A, &mut Context<A>) -> R + Send + 'static,
        R: Send + 'static,
    {
        let ticket = Ticket::draw();
        let (promise, debt) = Promise::owed();
        self.forward(move |outcome| match outcome {
            Ok(actor) => {
                let message = move |this: &mut A, ctx: &mut Context<A>| {
                    debt.pay(|| message(this, ctx));
                };
                let _ = actor.cell().send_numbered(ticket.address(), message);
            }
            Err(broken) => debt.settle(Err(broken)),
        });
        promise
    }
}

impl<A: Send + 'static> Promise<FarRef<A>> {
    /// Keeps a message until the promise is resolved; at once if it is.
    fn forward(&self, deliver: impl FnOnce(Result<FarRef<A>, Broken>) + Send + 'static) {
        self.shared.is_met(ops::SUBSCRIBE);
        let mut state = self.shared.state();
        state.clone = Some(FarRef::clone);
        match &state.phase {
            Phase::Open | Phase::Following | Phase::Telling => {
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
