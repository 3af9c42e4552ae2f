//! Finds the processes that this process has started.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, process,
};

/// Returns all descendants of this process that have not ended. A parent precedes its children.
pub(super) fn descendants() -> Vec<u32> {
    let mut children: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(process) = process
            && let Some(parent) = parent_of(process)
        {
            children.entry(parent).or_default().insert(process);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![process::id()];
    while let Some(parent) = next.pop() {
        let of_this = children.remove(&parent).unwrap_or_default();
        found.extend(&of_this);
        next.extend(of_this);
    }
    found
}

/// Returns the parent of a process that has not ended.
fn parent_of(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name is in parentheses and may contain any character.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X");
    (!has_ended).then(|| fields.next()?.parse().ok())?
}
