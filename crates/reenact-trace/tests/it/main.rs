//! Tests of the trace through its public face: what is written is read, whatever happens to the writer or the files.

mod actors;
mod any_bytes;
mod bounded_fuzz;
mod child;
mod crowds;
mod cut;
mod data;
mod flipped;
mod full_disk;
mod golden;
mod killed;
mod memory;
mod reading;
mod refused;
mod round_trip;
mod script;
mod sections;
mod torn;
mod truncated;
mod writing;

/// A new directory, which goes when it is dropped, and the path of a file in it.
fn in_directory(file: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(file);
    (directory, path)
}

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;
