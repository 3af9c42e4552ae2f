//! Tests of the search and of the graph through their public face. The languages here are made for them.

mod agreement;
mod answers;
mod bounds;
mod counters;
mod numbering;
mod shared;
mod toy;
