//! The questions that a graph answers.
