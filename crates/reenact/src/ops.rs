//! The operations of the threads-and-locks model, by name.

use reenact_engine::Op;

pub(crate) const LOCK: Op = Op::new(1, "lock");
pub(crate) const UNLOCK: Op = Op::new(2, "unlock");
pub(crate) const READ: Op = Op::new(3, "read");
pub(crate) const WRITE: Op = Op::new(4, "write");
pub(crate) const READ_END: Op = Op::new(5, "read end");
pub(crate) const WRITE_END: Op = Op::new(6, "write end");
pub(crate) const WAIT: Op = Op::new(7, "wait");
pub(crate) const NOTIFY: Op = Op::new(8, "notify");
pub(crate) const LOAD: Op = Op::new(9, "load");
pub(crate) const STORE: Op = Op::new(10, "store");
pub(crate) const MODIFY: Op = Op::new(11, "read-modify-write");
pub(crate) const IS_FINISHED: Op = Op::new(12, "is finished");
pub(crate) const PARALLELISM: Op = Op::new(13, "available parallelism");
