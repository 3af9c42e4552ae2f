//! What is sent to actors: closures, and calls of methods.
//!
//! A call knows what it is: the method and, as far as they are `Debug`, its arguments. That is asked for only where somebody
//! watches; the name and how to show an argument are part of the type of the message, so a message is not larger for it.

use std::marker::PhantomData;

use super::{Context, inspect, promise::Debt};

/// A message.
pub(super) trait Message<A: Send + 'static>: Send + 'static {
    /// What comes of it.
    type Answer;

    /// Does what it says.
    fn run(self, this: &mut A, ctx: &mut Context<A>) -> Self::Answer;

    /// What people call it.
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

/// A message that calls a method: what it carries, and code that has no size.
pub(super) struct Call<C, F, L, S> {
    pub(super) carried: C,
    pub(super) run: F,
    pub(super) label: L,
    pub(super) state: S,
}

impl<A, C, F, L, S, R> Message<A> for Call<C, F, L, S>
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
        // Who wants to know what is sent wants to know what comes of it.
        inspect::register(self.state);
        (self.label)(&self.carried)
    }
}

/// A message whose result is owed to somebody.
pub(super) struct Asked<M, R: Send + 'static> {
    pub(super) message: M,
    pub(super) debt: Debt<R>,
}

impl<A, M, R> Message<A> for Asked<M, R>
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

/// A message that continues a turn, and is called after the code `G` that the actor has asked for.
pub(super) struct Continued<F, G> {
    pub(super) run: F,
    pub(super) code: Code<G>,
}

/// Which code it is, without the code.
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

/// One that is too large for a mailbox.
impl<A: Send + 'static, M: Message<A>> Message<A> for Box<M> {
    type Answer = M::Answer;

    fn run(self, this: &mut A, ctx: &mut Context<A>) -> M::Answer {
        (*self).run(this, ctx)
    }

    fn label(&self) -> String {
        (**self).label()
    }
}

/// What people call a closure: `deposit::closure`, after the function that it is in.
pub(super) fn closure_name<F>() -> String {
    name_of_closure(std::any::type_name::<F>())
}

fn name_of_closure(path: &str) -> String {
    let within = path.trim_end_matches("::{{closure}}");
    // Generic arguments have paths of their own.
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
