//! `external`: values from outside that have no module of their own.

use std::any::type_name;

use reenact_engine::{Asked, External, Reply, is_withheld};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    answer::{decode_value, encode_value},
    ops,
};

/// Brings a value from outside into the program: recorded, and taken from the trace in a replay.
///
/// Use it for what has no module of its own here: a sensor, a foreign library, a generated key. A replay does not call
/// `ask`.
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
/// What `ask` does is not part of the program. It may have any effect outside, with the standard library or with
/// [`reenact::fs`](crate::fs) and the like; only its value is recorded. It must not take the program's locks, send to
/// its channels or perform any other recorded operation: a replay would not perform it, and would report a divergence.
///
/// A replay compares the name and the type. A value whose name is withheld (`external:weather`) is not written to the
/// trace, and a replay ends where it is asked for.
#[track_caller]
pub fn external<T: Serialize + DeserializeOwned>(name: &str, ask: impl FnOnce() -> T) -> T {
    let call = ExternalValue {
        name,
        ask: Some(ask),
    };
    reenact_engine::external(ops::EXTERNAL, call)
}

struct ExternalValue<'a, F> {
    name: &'a str,
    /// Taken when it is asked, which happens at most once.
    ask: Option<F>,
}

impl<T, F> External for ExternalValue<'_, F>
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
        let ask = self.ask.take().expect("it is asked once");
        ask()
    }

    fn reply<'a>(&'a self, answer: &'a T) -> Reply<'a> {
        if is_withheld("external", self.name) {
            return Reply::Withheld;
        }
        encode_value(answer, || self.what())
    }

    fn hear(&mut self, reply: Reply<'_>) -> Option<T> {
        decode_value(&reply)
    }
}
