//! Programs that must not compile: what is an actor's own stays its own.
//!
//! Each program of `compile_fail/` tries one way of getting at the state of an actor from outside of its turns, or of
//! having two actors share something. After a new compiler, look at the messages again with `TRYBUILD=overwrite`.

#[test]
fn state_cannot_leak_between_actors() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
