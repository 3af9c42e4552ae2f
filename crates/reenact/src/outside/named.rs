//! `external`: whatever else comes from outside.

use std::any::type_name;

use reenact_engine::{Asked, External, Reply, is_withheld};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    answer::{hear_value, tell_value},
    ops,
};

/// Brings a value into the program that comes from outside: recorded, and in a replay taken from the trace.
///
/// For what has no module of its own here: a sensor, a foreign library, a generated key. In a replay `ask` is not called.
///
/// ```
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Weather {
///     degrees: f32,
///     wind: Option<u32>,
/// }
///
/// let weather: Weather = reenact::external("weather", || Weather {
///     degrees: 21.5,
///     wind: None,
/// });
/// assert!(weather.degrees > 0.0);
/// ```
///
/// What `ask` does is not part of the program. It may do to the world what it likes, with the standard library or with
/// [`reenact::fs`](crate::fs) and its like, of which only the value is recorded. It must not take locks of the program, send
/// to its channels or do any other operation that is recorded: in a replay that would not happen, and the replay would say
/// that it differs.
///
/// The name and the type are compared in a replay. A value whose name is withheld (`external:weather`) is not written down,
/// and a replay ends where it is asked for.
#[track_caller]
pub fn external<T: Serialize + DeserializeOwned>(name: &str, ask: impl FnOnce() -> T) -> T {
    let call = Named {
        name,
        ask: Some(ask),
    };
    reenact_engine::external(ops::EXTERNAL, call)
}

struct Named<'a, F> {
    name: &'a str,
    /// Until it is asked, which happens once at most.
    ask: Option<F>,
}

impl<T, F> External for Named<'_, F>
where
    T: Serialize + DeserializeOwned,
    F: FnOnce() -> T,
{
    type Answer = T;

    fn what(&self) -> String {
        format!("external {:?} of type {}", self.name, type_name::<T>())
    }

    fn asked(&self) -> Asked {
        Asked::parts([self.name.as_bytes(), type_name::<T>().as_bytes()])
    }

    fn ask(&mut self) -> T {
        let ask = self.ask.take().expect("a question is asked once");
        ask()
    }

    fn tell<'a>(&'a self, answer: &'a T) -> Reply<'a> {
        if is_withheld("external", self.name) {
            return Reply::Withheld;
        }
        tell_value(answer, || self.what())
    }

    fn hear(&mut self, reply: Reply<'_>) -> Option<T> {
        hear_value(&reply)
    }
}
