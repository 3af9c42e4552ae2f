//! Stands in for `reenact::external`.

use reenact_engine::{Asked, External, Op, OpInfo, Reply};
use serde::{Serialize, de::DeserializeOwned};

const EXTERNAL: Op = Op::new(&OpInfo {
    code: 0xa0,
    name: "external",
});

#[track_caller]
pub(crate) fn external<T: Serialize + DeserializeOwned>(name: &str, ask: impl FnOnce() -> T) -> T {
    reenact_engine::external(
        EXTERNAL,
        Named {
            name,
            ask: Some(ask),
        },
    )
}

struct Named<'a, F> {
    name: &'a str,
    ask: Option<F>,
}

impl<T: Serialize + DeserializeOwned, F: FnOnce() -> T> External for Named<'_, F> {
    type Answer = T;

    fn what(&self) -> String {
        self.name.to_owned()
    }

    fn asked(&self) -> Asked {
        Asked::bytes(self.name.as_bytes())
    }

    fn ask(&mut self) -> T {
        self.ask.take().expect("once")()
    }

    fn tell<'a>(&'a self, answer: &'a T) -> Reply<'a> {
        Reply::Bytes(serde_json::to_vec(answer).expect("JSON").into())
    }

    fn hear(&mut self, reply: Reply<'_>) -> Option<T> {
        match reply {
            Reply::Bytes(bytes) => serde_json::from_slice(&bytes).ok(),
            _ => None,
        }
    }
}
