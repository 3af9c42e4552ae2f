//! Sending to a promise: messages for an actor that is not known yet.

use std::panic::Location;

use reenact_engine::Ticket;

use super::{
    super::{
        Target,
        message::{Asked, Call, Closure, Message},
        ops,
    },
    Broken, Context, FarRef, Phase, Promise,
};

impl<A: Send + 'static> Target<A> for Promise<FarRef<A>> {
    #[track_caller]
    fn send<F>(&self, message: F)
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        self.send_message(Closure(message));
    }

    #[track_caller]
    fn ask<F, R>(&self, message: F) -> Promise<R>
    where
        F: FnOnce(&mut A, &mut Context<A>) -> R + Send + 'static,
        R: Send + 'static,
    {
        self.ask_message(Closure(message))
    }

    #[track_caller]
    fn send_call<C, F, L, S>(&self, carried: C, run: F, label: L, state: S)
    where
        C: Send + 'static,
        F: FnOnce(&mut A, &mut Context<A>, C) + Send + 'static,
        L: Fn(&C) -> String + Send + 'static,
        S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
    {
        self.send_message(Call {
            carried,
            run,
            label,
            state,
        });
    }

    #[track_caller]
    fn ask_call<C, F, L, S, R>(&self, carried: C, run: F, label: L, state: S) -> Promise<R>
    where
        C: Send + 'static,
        F: FnOnce(&mut A, &mut Context<A>, C) -> R + Send + 'static,
        L: Fn(&C) -> String + Send + 'static,
        S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
        R: Send + 'static,
    {
        self.ask_message(Call {
            carried,
            run,
            label,
            state,
        })
    }
}

impl<A: Send + 'static> Promise<FarRef<A>> {
    #[track_caller]
    fn send_message(&self, message: impl Message<A, Answer = ()>) {
        let (ticket, site) = (Ticket::draw(), Location::caller());
        self.forward(move |outcome| {
            if let Ok(actor) = outcome {
                let _ = actor.cell().send_numbered(ticket.address(), site, message);
            }
        });
    }

    #[track_caller]
    fn ask_message<R: Send + 'static>(&self, message: impl Message<A, Answer = R>) -> Promise<R> {
        let (ticket, site) = (Ticket::draw(), Location::caller());
        let (promise, debt) = Promise::owed();
        self.forward(move |outcome| match outcome {
            Ok(actor) => {
                let message = Asked { message, debt };
                let _ = actor.cell().send_numbered(ticket.address(), site, message);
            }
            Err(broken) => debt.settle(Err(broken)),
        });
        promise
    }

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
