//! Calls to the outside that are described by closures.

use reenact_engine::{Asked, External, Op, Reply, external};

/// Asks the outside, or reads its answer from the trace. The parameters are the parts of [`External`].
#[track_caller]
pub(crate) fn call<R>(
    op: Op,
    what: impl Fn() -> String,
    asked: Asked,
    ask: impl FnOnce() -> R,
    reply: impl Fn(&R) -> Reply<'_>,
    hear: impl FnMut(Reply<'_>) -> Option<R>,
) -> R {
    external(
        op,
        Call {
            what,
            asked,
            ask: Some(ask),
            reply,
            hear,
        },
    )
}

struct Call<W, A, T, H> {
    what: W,
    asked: Asked,
    /// Called at most once.
    ask: Option<A>,
    reply: T,
    hear: H,
}

impl<R, W, A, T, H> External for Call<W, A, T, H>
where
    W: Fn() -> String,
    A: FnOnce() -> R,
    T: Fn(&R) -> Reply<'_>,
    H: FnMut(Reply<'_>) -> Option<R>,
{
    type Answer = R;

    fn what(&self) -> String {
        (self.what)()
    }

    fn asked(&self) -> Asked {
        self.asked
    }

    fn ask(&mut self) -> R {
        let ask = self.ask.take().expect("the outside is asked once");
        ask()
    }

    fn reply<'a>(&'a self, answer: &'a R) -> Reply<'a> {
        (self.reply)(answer)
    }

    fn hear(&mut self, reply: Reply<'_>) -> Option<R> {
        (self.hear)(reply)
    }
}
