//! Messages to actors: closures, and method calls.
//!
//! A call can describe itself: the method and, as far as they are `Debug`, its arguments. That is computed only when
//! messages are announced; the name and how to show an argument are part of the message's type, so it makes a message
//! no larger.

use std::marker::PhantomData;

use super::{Context, inspect, promise::Debt};

/// A message to an actor.
pub trait Message<A: Send + 'static>: Send + 'static {
    /// The result of the message.
    type Answer;

    /// Handles the message.
    fn run(self, this: &mut A, ctx: &mut Context<A>) -> Self::Answer;

    /// Returns the message's name for reports.
    fn label(&self) -> String;
}

/// A message that is a closure.
pub(super) struct Closure<F>(pub(super) F);

impl<A, F, R> Message<A> for Closure<F>
where
    A: Send + 'static,
    F: FnOnce(&mut A, &mut Context<A>) -> R + Send + 'static,
{
    type Answer = R;

    #[inline(always)]
    fn run(self, this: &mut A, ctx: &mut Context<A>) -> R {
        (self.0)(this, ctx)
    }

    fn label(&self) -> String {
        closure_name::<F>()
    }
}

/// A message that calls a method: its arguments, and closures of size zero.
pub(super) struct MethodCall<C, F, L, S> {
    pub(super) carried: C,
    pub(super) run: F,
    pub(super) label: L,
    pub(super) state: S,
}

impl<A, C, F, L, S, R> Message<A> for MethodCall<C, F, L, S>
where
    A: Send + 'static,
    C: Send + 'static,
    F: FnOnce(&mut A, &mut Context<A>, C) -> R + Send + 'static,
    L: Fn(&C) -> String + Send + 'static,
    S: Fn(&A) -> Option<String> + Copy + Send + Sync + 'static,
{
    type Answer = R;

    #[inline(always)]
    fn run(self, this: &mut A, ctx: &mut Context<A>) -> R {
        (self.run)(this, ctx, self.carried)
    }

    fn label(&self) -> String {
        // Where a message is shown, the state that it leads to is shown, too.
        inspect::register(self.state);
        (self.label)(&self.carried)
    }
}

/// A message whose result settles a promise.
pub(super) struct Request<M, R: Send + 'static> {
    pub(super) message: M,
    pub(super) debt: Debt<R>,
}

impl<A, M, R> Message<A> for Request<M, R>
where
    A: Send + 'static,
    M: Message<A, Answer = R>,
    R: Send + 'static,
{
    type Answer = ();

    #[inline(always)]
    fn run(self, this: &mut A, ctx: &mut Context<A>) {
        let message = self.message;
        self.debt.pay(|| message.run(this, ctx));
    }

    fn label(&self) -> String {
        self.message.label()
    }
}

/// A continuation, named after the closure `G` that the actor registered.
pub(super) struct Continued<F, G> {
    pub(super) run: F,
    pub(super) code: Code<G>,
}

/// The type of a closure, without the closure.
pub(super) struct Code<G>(PhantomData<fn() -> G>);

impl<G> Code<G> {
    pub(super) fn of(_: &G) -> Code<G> {
        Code(PhantomData)
    }

    fn name(&self) -> String {
        closure_name::<G>()
    }
}

impl<A, F, G> Message<A> for Continued<F, G>
where
    A: Send + 'static,
    F: FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    G: 'static,
{
    type Answer = ();

    fn run(self, this: &mut A, ctx: &mut Context<A>) {
        (self.run)(this, ctx);
    }

    fn label(&self) -> String {
        self.code.name()
    }
}

/// A message that is too large for a mailbox.
impl<A: Send + 'static, M: Message<A>> Message<A> for Box<M> {
    type Answer = M::Answer;

    fn run(self, this: &mut A, ctx: &mut Context<A>) -> M::Answer {
        (*self).run(this, ctx)
    }

    fn label(&self) -> String {
        (**self).label()
    }
}

/// Returns the name of a closure: `deposit::closure`, after the function that contains it.
pub(super) fn closure_name<F>() -> String {
    name_of_closure(std::any::type_name::<F>())
}

fn name_of_closure(path: &str) -> String {
    let within = path.trim_end_matches("::{{closure}}");
    // Skip the paths in generic arguments.
    let mut depth = 0;
    let start = within.char_indices().rev().find(|&(_, letter)| {
        match letter {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        depth == 0 && letter == ':'
    });
    let name = &within[start.map_or(0, |(at, _)| at + 1)..];
    let name = name.split('<').next().unwrap_or_default();
    match within.len() == path.len() {
        true => name.to_owned(),
        false => format!("{name}::closure"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_is_called_after_the_function_that_it_is_in() {
        for (path, name) in [
            ("bank::main::{{closure}}::{{closure}}", "main::closure"),
            (
                "<bank::Account as bank::Sends>::set<u8>::{{closure}}",
                "set::closure",
            ),
            ("bank::deposit<a::B>::{{closure}}", "deposit::closure"),
            ("bank::deposit", "deposit"),
            ("main::{{closure}}", "main::closure"),
        ] {
            assert_eq!(name_of_closure(path), name);
        }
        fn here<F>(_: F) -> String {
            closure_name::<F>()
        }
        let name = here(|| {});
        assert_eq!(
            name,
            "a_closure_is_called_after_the_function_that_it_is_in::closure"
        );
    }
}
