//! Threads, actors and processes that all ask what is outside.

use std::fs;

use crate::{oracle::program, support::stage::Stage};

#[test]
fn threads_actors_and_processes() {
    for workers in ["1", "2", "4"] {
        let stage = Stage::new();
        let world = stage.path("world");
        fs::create_dir(&world).unwrap();
        fs::write(world.join("input"), "no matter what\n".repeat(300)).unwrap();
        let with = |workers: &str| {
            program(&stage, &format!("everyone {}", world.display()))
                .env("REENACT_WORKERS", workers)
        };
        let recorded = with(workers).record_completely();
        fs::remove_dir_all(&world).unwrap();
        for workers in ["1", "2", "3"] {
            with(workers).replay().is_same_as(&recorded);
        }
        assert!(!world.exists());
    }
}
