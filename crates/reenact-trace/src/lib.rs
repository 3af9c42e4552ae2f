//! The bytes of a trace, and nothing else.
//!
//! A trace contains, for every activity in its own order, the operations whose outcome could not be predicted, and how
//! many predicted ones were in between; and it contains the external data that events refer to. This crate knows how
//! events are encoded ([`event`]), how they get to disk so that a killed process loses nothing ([`Writer`]), and how
//! they are read again in streams ([`Trace`]). It does not know what a lock is, nor which operations exist: an event is
//! a kind and a number, and only the code that wrote it interprets it.
//!
//! The layout is described once, in `docs/trace-format.md`; the constants are in the `layout` module.

mod catalog;
mod contents;
mod data;
mod directory;
mod entry;
mod error;
pub mod event;
mod family;
mod hashing;
mod layout;
mod live;
mod open;
mod position;
mod printable;
mod program;
mod reader;
mod recover;
mod regroup;
mod section;
mod signal;
mod variables;
mod writer;

pub use data::DataSummary;
pub use error::{Damage, TraceError};
pub use event::{Event, Item, Kind};
pub use family::{ActivityInfo, Origin, foreign_name, kept_name};
pub use layout::{FORMAT_VERSION, MAX_SILENT};
pub use live::{
    live_path,
    truncation::{
        is_handled as is_bus_error_handled, set_program_action as set_program_bus_error_action,
    },
};
pub use open::{create_private, open_regular};
pub use position::TracePosition;
pub use printable::{is_unprintable, printable, printable_lines};
pub use program::{Exit, Program, StopReason, identify, identify_file};
pub use reader::{Crowd, EventStream, Trace};
pub use recover::{append_exit, recover};
pub use variables::{Variable, VariableValue};
pub use writer::{Appender, Slot, Storage, Writer};
