// What the operations do, with whichever `fs` there is.

use std::{
    io::{Read, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use self::fs::{File, OpenOptions};
use super::language::{Operation, Verb};

/// So many files can be open.
const HANDLES: usize = 3;

pub(super) fn run(arguments: &[String]) {
    let directory = Path::new(&arguments[0]);
    // A program that asks nothing has no trace.
    println!("{}", shown(fs::exists(directory)));
    let mut open: Vec<Option<File>> = (0..HANDLES).map(|_| None).collect();
    for word in &arguments[1..] {
        let operation: Operation = word.parse().expect("an operation");
        let outcome = perform(directory, &mut open, operation);
        println!("{word}: {outcome}");
    }
}

/// A file or directory of the few that there are, each of which may be inside of another.
fn path(directory: &Path, n: usize) -> PathBuf {
    directory.join(["a", "b", "b/c", "b/d", "e"][n % 5])
}

fn shown<T: std::fmt::Debug>(result: std::io::Result<T>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{error}, {:?}, {:?}", error.kind(), error.raw_os_error()),
    }
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
                .read(second % 3 != 0)
                .write(second % 2 == 0)
                .append(second == 5)
                .create(second % 4 == 0)
                .create_new(second == 7)
                .truncate(second % 8 == 0)
                .open(&target);
            let outcome = shown(opened.as_ref().map(drop).map_err(|error| {
                let code = error.raw_os_error().unwrap_or(0);
                std::io::Error::from_raw_os_error(code)
            }));
            if let Ok(file) = opened {
                open[second % HANDLES] = Some(file);
            }
            outcome
        }
        Verb::Close => format!("{:?}", open[handle].take().is_some()),
        Verb::ReadSome => with(open, handle, |file| {
            let mut buffer = vec![0; second + 1];
            let count = file.read(&mut buffer);
            format!("{} {buffer:?}", shown(count))
        }),
        Verb::ReadExactly => with(open, handle, |file| {
            let mut buffer = vec![0; second * 9];
            let read = file.read_exact(&mut buffer);
            let position = file.stream_position();
            format!("{} {}", shown(read), shown(position))
        }),
        Verb::ReadRest => with(open, handle, |file| {
            let mut text = "before: ".to_owned();
            let count = file.read_to_string(&mut text);
            format!("{} {text}", shown(count))
        }),
        Verb::WriteSome => with(open, handle, |file| {
            let count = file.write(text().as_bytes());
            format!("{} {}", shown(count), shown(file.flush()))
        }),
        Verb::WriteFormatted => with(open, handle, |file| {
            shown(write!(file, "{first:>5} and {second}"))
        }),
        Verb::Seek => with(open, handle, |file| {
            let offset = second as i64 * 5 - 20;
            let to = [SeekFrom::Current(offset), SeekFrom::End(offset)][first % 2];
            shown(file.seek(to))
        }),
        Verb::SetLength => with(open, handle, |file| {
            let set = file.set_len(second as u64 * 7);
            format!("{} {}", shown(set), shown(file.sync_all()))
        }),
        Verb::Clone => match open[handle].as_ref().map(File::try_clone) {
            Some(Ok(clone)) => {
                open[second % HANDLES] = Some(clone);
                "cloned".to_owned()
            }
            clone => format!("{:?}", clone.is_none()),
        },
        Verb::Ask => with(open, handle, |file| {
            shown(file.metadata().map(|metadata| metadata.len()))
        }),
        Verb::ReadAll => format!(
            "{} {}",
            shown(fs::read(&target)),
            shown(fs::read_to_string(&target))
        ),
        Verb::WriteAll => shown(fs::write(target, text())),
        Verb::Exists => {
            let metadata = fs::symlink_metadata(&target).map(|metadata| {
                (
                    metadata.is_dir(),
                    metadata.file_type().is_file(),
                    metadata.is_file().then_some(metadata.len()),
                    metadata.mode(),
                    metadata.permissions().readonly(),
                    metadata.is_file().then(|| metadata.nlink()),
                )
            });
            format!("{} {}", shown(fs::exists(&target)), shown(metadata))
        }
        Verb::Permit => {
            let mode = [0o644, 0o600, 0o755][second % 3];
            shown(fs::set_permissions(
                target,
                fs::Permissions::from_mode(mode),
            ))
        }
        Verb::CreateDir if second % 2 == 0 => shown(fs::create_dir(target)),
        Verb::CreateDir => shown(fs::create_dir_all(target)),
        Verb::RemoveFile => shown(fs::remove_file(target)),
        Verb::RemoveDir if second % 2 == 0 => shown(fs::remove_dir(target)),
        Verb::RemoveDir => shown(fs::remove_dir_all(target)),
        Verb::Rename => shown(fs::rename(target, other)),
        Verb::Copy => shown(fs::copy(target, other)),
        Verb::Link => shown(fs::hard_link(target, other)),
        Verb::Resolve => {
            let resolved = fs::canonicalize(target.join("."));
            let name = resolved.map(|path| path.file_name().map(ToOwned::to_owned));
            format!("{} {}", shown(name), shown(fs::read_link(target)))
        }
        Verb::List => {
            let listed = fs::read_dir(directory).and_then(|entries| {
                let mut listed = Vec::new();
                for entry in entries {
                    let entry = entry?;
                    let file_type = entry.file_type()?;
                    listed.push((entry.file_name(), file_type.is_dir(), file_type.is_file()));
                }
                // Two directories with the same in them need not be listed in the same order.
                listed.sort();
                Ok(listed)
            });
            shown(listed)
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
