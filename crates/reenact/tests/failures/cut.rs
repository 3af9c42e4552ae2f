//! A trace of which the end is missing replays as far as it goes.

use crate::support::{checks::replays_where_it_is_cut, stage::Stage};

#[test]
fn a_trace_that_is_cut_anywhere_replays_up_to_there() {
    for command_line in ["waves 60 10", "poison", "foreign-named"] {
        let stage = Stage::new();
        replays_where_it_is_cut(&stage, &stage.program(command_line), 12);
    }
}
