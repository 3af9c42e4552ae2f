//! The operations of transactional memory, by name.

use reenact_engine::{Op, OpInfo};

pub(super) const TRANSACTION: Op = Op::new(&OpInfo {
    code: 0x60,
    name: "transaction",
});
pub(super) const COMMIT: Op = Op::new(&OpInfo {
    code: 0x61,
    name: "commit",
});
pub(super) const READ_ONLY: Op = Op::new(&OpInfo {
    code: 0x62,
    name: "commit without writes",
});
pub(super) const RETRY: Op = Op::new(&OpInfo {
    code: 0x63,
    name: "retry",
});
