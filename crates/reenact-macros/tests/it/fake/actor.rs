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

    fn send_call<C, F, L, S>(&self, carried: C, run: F, label: L, state: S)
    where
        C: Send + 'static,
        F: FnOnce(&mut A, &mut Context<A>, C) + Send + 'static,
        L: Fn(&C) -> String + Send + 'static,
        S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
    {
        self.ask_call(carried, run, label, state);
    }

    fn ask_call<C, F, L, S, R>(&self, carried: C, run: F, label: L, state: S) -> Promise<R>
    where
        C: Send + 'static,
        F: FnOnce(&mut A, &mut Context<A>, C) -> R + Send + 'static,
        L: Fn(&C) -> String + Send + 'static,
        S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
        R: Send + 'static,
    {
        let label = label(&carried);
        self.ask(move |this, ctx| {
            inspect::note(label, state(this));
            run(this, ctx, carried)
        })
    }
}

// The description of the last message: its label, and the state of its actor before it.
pub mod inspect {
    use std::{cell::RefCell, fmt::Debug};

    thread_local! {
        static LAST: RefCell<(String, Option<String>)> = RefCell::default();
    }

    pub fn note(label: String, state: Option<String>) {
        LAST.set((label, state));
    }

    pub fn last() -> (String, Option<String>) {
        LAST.take()
    }

    pub struct Shown<'a, T: ?Sized>(pub &'a T);

    impl<T: Debug + ?Sized> Shown<'_, T> {
        pub fn reenact_text(&self) -> Option<String> {
            Some(format!("{:?}", self.0))
        }
    }

    pub trait Hidden {
        fn reenact_text(&self) -> Option<String> {
            None
        }
    }

    impl<T: ?Sized> Hidden for Shown<'_, T> {}

    pub fn call(method: &str, arguments: &[Option<String>]) -> String {
        let arguments = arguments.iter().map(|one| one.as_deref().unwrap_or("_"));
        format!("{method}({})", arguments.collect::<Vec<_>>().join(", "))
    }
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
