// The least that expansions need of `reenact::actor`: a message is delivered while it is sent, and a promise is its
// value. It asks for the same bounds as the runtime, so what compiles here compiles there. (Comments and not docs: the
// example in the documentation of `#[actor]` includes this file.)

use std::sync::{Arc, Mutex};

pub struct FarRef<A>(Arc<Mutex<A>>);

pub struct Promise<R>(R);

pub struct Context<A> {
    pub me: FarRef<A>,
}

pub trait Target<A: Send + 'static> {
    fn send<F>(&self, message: F)
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static;

    fn ask<F, R>(&self, message: F) -> Promise<R>
    where
        F: FnOnce(&mut A, &mut Context<A>) -> R + Send + 'static,
        R: Send + 'static;
}

impl<A: Send + 'static> FarRef<A> {
    pub fn new(actor: A) -> Self {
        FarRef(Arc::new(Mutex::new(actor)))
    }
}

impl<A> Clone for FarRef<A> {
    fn clone(&self) -> Self {
        FarRef(Arc::clone(&self.0))
    }
}

impl<A: Send + 'static> Target<A> for FarRef<A> {
    fn send<F>(&self, message: F)
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        self.ask(message);
    }

    fn ask<F, R>(&self, message: F) -> Promise<R>
    where
        F: FnOnce(&mut A, &mut Context<A>) -> R + Send + 'static,
        R: Send + 'static,
    {
        let mut context = Context { me: self.clone() };
        Promise(message(&mut self.0.lock().unwrap(), &mut context))
    }
}

impl<A: Send + 'static> Target<A> for Promise<FarRef<A>> {
    fn send<F>(&self, message: F)
    where
        F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    {
        self.0.send(message);
    }

    fn ask<F, R>(&self, message: F) -> Promise<R>
    where
        F: FnOnce(&mut A, &mut Context<A>) -> R + Send + 'static,
        R: Send + 'static,
    {
        self.0.ask(message)
    }
}

impl<R> Promise<R> {
    pub fn wait(self) -> R {
        self.0
    }
}

impl<R> Promise<Promise<R>> {
    pub fn flatten(self) -> Promise<R> {
        self.0
    }
}
