//! Programs over files that nobody wrote: `generated DIRECTORY OPERATION…`.

mod language;

use std::{
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use reenact::fs::{self, File, OpenOptions};

use self::language::{Operation, Verb};

/// So many files can be open.
const HANDLES: usize = 3;

pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    if name != "generated" {
        return false;
    }
    let directory = Path::new(&arguments[0]);
    // A program that asks nothing has no trace.
    println!("{:?}", fs::exists(directory));
    let mut open: Vec<Option<File>> = (0..HANDLES).map(|_| None).collect();
    for word in &arguments[1..] {
        let operation: Operation = word.parse().expect("an operation");
        let outcome = perform(directory, &mut open, operation);
        println!("{word}: {outcome}");
    }
    true
}

/// A file or directory of the few that there are, each of which may be inside of another.
fn path(directory: &Path, n: usize) -> PathBuf {
    directory.join(["a", "b", "b/c", "b/d", "e"][n % 5])
}

fn perform(directory: &Path, open: &mut [Option<File>], operation: Operation) -> String {
    let Operation { verb, numbers } = operation;
    let [first, second] = numbers;
    let target = path(directory, first);
    let other = path(directory, second);
    let handle = first % HANDLES;
    let text = || "0123456789abcdef".repeat(second + 1);
    match verb {
        Verb::Open => {
            let opened = OpenOptions::new()
                .read(true)
                .write(second % 2 == 0)
                .create(second % 4 == 0)
                .truncate(second % 8 == 0)
                .open(&target);
            let outcome = format!("{opened:?}");
            if let Ok(file) = opened {
                open[second % HANDLES] = Some(file);
            }
            outcome
        }
        Verb::Close => format!("{:?}", open[handle].take().is_some()),
        Verb::ReadSome => with(open, handle, |file| {
            let mut buffer = vec![0; second + 1];
            format!("{:?} {buffer:?}", file.read(&mut buffer))
        }),
        Verb::ReadRest => with(open, handle, |file| {
            let mut text = String::new();
            format!("{:?} {text}", file.read_to_string(&mut text))
        }),
        Verb::WriteSome => with(open, handle, |file| {
            format!("{:?}", file.write(text().as_bytes()))
        }),
        Verb::Seek => with(open, handle, |file| {
            format!("{:?}", file.seek(SeekFrom::Current(second as i64 * 5 - 20)))
        }),
        Verb::SetLength => with(open, handle, |file| {
            format!("{:?}", file.set_len(second as u64 * 7))
        }),
        Verb::Ask => with(open, handle, |file| {
            format!("{:?}", file.metadata().map(|metadata| metadata.len()))
        }),
        Verb::ReadAll => format!("{:?}", fs::read_to_string(target)),
        Verb::WriteAll => format!("{:?}", fs::write(target, text())),
        Verb::Exists => format!("{:?} {:?}", fs::exists(&target), fs::metadata(target)),
        Verb::CreateDir => format!("{:?}", fs::create_dir(target)),
        Verb::RemoveFile => format!("{:?}", fs::remove_file(target)),
        Verb::RemoveDir => format!("{:?}", fs::remove_dir_all(target)),
        Verb::Rename => format!("{:?}", fs::rename(target, other)),
        Verb::Copy => format!("{:?}", fs::copy(target, other)),
        Verb::List => {
            let listed = fs::read_dir(directory).map(|entries| {
                entries
                    .map(|entry| {
                        let entry = entry?;
                        Ok((entry.file_name(), entry.file_type()?))
                    })
                    .collect::<Vec<std::io::Result<_>>>()
            });
            format!("{listed:?}")
        }
    }
}

fn with(
    open: &mut [Option<File>],
    handle: usize,
    action: impl FnOnce(&mut File) -> String,
) -> String {
    open[handle].as_mut().map_or("not open".to_owned(), action)
}
