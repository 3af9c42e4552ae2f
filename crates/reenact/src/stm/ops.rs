//! The operations of transactional memory, by name.

use reenact_engine::operations;

operations! {
    pub(super) TRANSACTION = 0x60 TransactionCommit "run a transaction";
    pub(super) COMMIT = 0x61 TransactionCommit "commit";
    pub(super) READ_ONLY = 0x62 TransactionCommit "commit without writes";
    pub(super) RETRY = 0x63 TransactionCommit "retry";
}
