//! The guide quotes this crate, and nothing else.

use std::{fs, path::Path};

const GUIDE: &str = include_str!("../../../../docs/add-a-model.md");

/// The text without indentation and empty lines.
fn bare(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

fn sources(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("a directory of this crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(bare(&fs::read_to_string(path).expect("a source file")));
        }
    }
}

#[test]
fn what_the_guide_quotes_is_what_is_compiled() {
    let mut found = Vec::new();
    for directory in ["src", "tests", "examples"] {
        sources(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(directory),
            &mut found,
        );
    }
    let blocks: Vec<_> = GUIDE.split("```rust\n").skip(1).collect();
    assert!(blocks.len() > 5, "there is something to compare");
    for block in blocks {
        let (block, _) = block.split_once("```").expect("the end of a block");
        // What is left out is marked.
        for part in block.split("// …\n") {
            let part = bare(part);
            assert!(
                found.iter().any(|source| source.contains(&part)),
                "not in this crate:\n{part}"
            );
        }
    }
}
