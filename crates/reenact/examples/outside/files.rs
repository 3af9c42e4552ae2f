//! Programs that read and write files.

use std::{
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use reenact::{
    fs::{self, File, OpenOptions},
    thread,
};

use crate::{digest, say, setting, wait_to_be_killed};

pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    let path = arguments.first().map_or(Path::new(""), Path::new);
    match name {
        "input" => input(),
        "read" => read(path),
        "read-often" => read_often(path),
        "list" => list(path),
        "errors" => errors(path),
        "write" => write(path),
        "edit" => edit(path),
        "tree" => tree(path),
        "big" => big(path),
        "buffer" => buffer(path),
        "two" => two(path, Path::new(&arguments[1])),
        "write-two" => write_two(path, Path::new(&arguments[1])),
        "slowly" => slowly(path),
        "early" => early(path, Path::new(&arguments[1])),
        _ => return false,
    }
    true
}

fn read_often(path: &Path) {
    let total: usize = (0..20).map(|_| fs::read(path).unwrap().len()).sum();
    println!("{total}");
}

fn read(path: &Path) {
    println!("{:?}", fs::read_to_string(path));
    println!("{:?}", fs::exists(path));
    let mut file = File::open(path).unwrap();
    let metadata = file.metadata().unwrap();
    println!(
        "{} {} {:o} {:?} {:?} {:?}",
        metadata.len(),
        metadata.is_file(),
        metadata.permissions().mode(),
        metadata.modified().unwrap(),
        metadata.created().map_err(|error| error.to_string()),
        metadata.ino(),
    );
    let mut buffer = [0; 5];
    loop {
        let count = file.read(&mut buffer).unwrap();
        println!("{count} {:?}", String::from_utf8_lossy(&buffer[..count]));
        if count == 0 {
            break;
        }
    }
    println!("{:?}", file.seek(SeekFrom::End(-3)));
    let mut rest = String::from("the rest: ");
    println!("{:?} {rest:?}", file.read_to_string(&mut rest));
    for line in BufReader::new(File::open(path).unwrap()).lines() {
        println!("line {line:?}");
    }
}

/// Threads that share what comes in, a line or a lock at a time.
fn input() {
    let mut first = String::new();
    println!("{:?} {first:?}", reenact::io::stdin().read_line(&mut first));
    let threads = [1, 2, 3].map(|taken| {
        thread::spawn(move || {
            let mut lines = Vec::new();
            for _ in 0..20 {
                let mut input = reenact::io::stdin().lock();
                for _ in 0..taken {
                    let mut line = String::new();
                    input.read_line(&mut line).unwrap();
                    lines.push(line);
                }
            }
            lines
        })
    });
    for thread in threads {
        println!("{:?}", thread.join().unwrap());
    }
    let mut rest = String::new();
    let count = reenact::io::stdin().read_to_string(&mut rest);
    println!("{count:?} {rest:?}");
    println!("{:?}", reenact::io::stdin().lines().count());
}

fn list(path: &Path) {
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        println!(
            "{:?} {:?} {:?} {}",
            entry.path(),
            entry.file_name(),
            entry.file_type(),
            entry.metadata().unwrap().len(),
        );
    }
    println!("{:?}", fs::canonicalize(path.join(".")));
    println!("{:?}", fs::read_link(path.join("link")));
}

fn errors(path: &Path) {
    let show = |what: &str, error: io::Error| {
        println!(
            "{what}: {error}, {:?}, {:?}",
            error.kind(),
            error.raw_os_error()
        );
    };
    let mut errors = vec![
        ("open", File::open(path.join("nothing")).map(drop)),
        ("read", fs::read(path).map(drop)),
        ("metadata", fs::metadata(path.join("nothing")).map(drop)),
        ("list", fs::read_dir(path.join("file")).map(drop)),
        ("write", fs::write(path.join("no/such"), b"x")),
        ("create", fs::create_dir(path)),
        ("rename", fs::rename(path.join("nothing"), path.join("x"))),
        ("remove", fs::remove_file(path.join("nothing"))),
        ("remove", fs::remove_dir(path)),
        ("nul", File::open("a\0b").map(drop)),
        ("denied", fs::remove_file("/proc/version")),
        ("closed", fs::read(path.join("closed")).map(drop)),
    ];
    errors.push(("new", File::create_new(path.join("file")).map(drop)));
    errors.push(("invalid", fs::read_to_string(path.join("bytes")).map(drop)));
    let mut readable = File::open(path.join("file")).unwrap();
    errors.push(("written", readable.write(b"x").map(drop)));
    errors.push(("seek", readable.seek(SeekFrom::Current(-9)).map(drop)));
    for (what, result) in errors {
        match result {
            Ok(()) => println!("{what}: fine"),
            Err(error) => show(what, error),
        }
    }
}

fn write(path: &Path) {
    let mut file = File::create(path).unwrap();
    file.write_all(b"first\n").unwrap();
    file.write_all(setting("TEXT", "second\n").as_bytes())
        .unwrap();
    file.sync_all().unwrap();
    println!(
        "written {:?}",
        file.metadata().map(|metadata| metadata.len())
    );
}

/// Reads and writes through one handle, and through two that share a position.
fn edit(path: &Path) {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.mode(0o600).open(path).unwrap();
    let mut word = [0; 4];
    println!("{:?}", file.read_exact(&mut word));
    file.write_all(b"WORD").unwrap();
    let mut again = file.try_clone().unwrap();
    again.write_all(b"MORE").unwrap();
    println!("{:?}", file.stream_position());
    file.seek(SeekFrom::Start(1)).unwrap();
    (&file).write_all(b"-").unwrap();
    file.set_len(14).unwrap();
    let mut log = OpenOptions::new().append(true).open(path).unwrap();
    log.write_all(b"!").unwrap();
    println!("{:?}", fs::read_to_string(path));
}

fn tree(path: &Path) {
    fs::create_dir_all(path.join("a/b/c")).unwrap();
    fs::write(path.join("a/one"), "1").unwrap();
    fs::rename(path.join("a/one"), path.join("a/b/two")).unwrap();
    println!("{:?}", fs::copy(path.join("a/b/two"), path.join("a/three")));
    fs::hard_link(path.join("a/three"), path.join("a/four")).unwrap();
    fs::remove_file(path.join("a/three")).unwrap();
    fs::create_dir(path.join("gone")).unwrap();
    fs::remove_dir(path.join("gone")).unwrap();
    fs::create_dir_all(path.join("all/gone")).unwrap();
    fs::remove_dir_all(path.join("all")).unwrap();
    println!("{:?}", fs::read_to_string(path.join("a/four")));
}

fn big(path: &Path) {
    let bytes = fs::read(path).unwrap();
    println!("{} {:016x}", bytes.len(), digest(&bytes));
    let mut file = File::open(path).unwrap();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).unwrap() {
            0 => break,
            count => println!("{count} {:016x}", digest(&buffer[..count])),
        }
    }
}

fn buffer(path: &Path) {
    let size = setting("SIZE", "16").parse().unwrap();
    let mut buffer = vec![0; size];
    let count = File::open(path).unwrap().read(&mut buffer).unwrap();
    println!("{count}");
}

/// Two files, and one of them is read.
fn two(one: &Path, other: &Path) {
    let files = [one, other].map(|path| File::open(path).unwrap());
    let which: usize = setting("WHICH", "0").parse().unwrap();
    let mut text = String::new();
    (&files[which]).read_to_string(&mut text).unwrap();
    println!("{text}");
}

/// Two files, and one of them is written.
fn write_two(one: &Path, other: &Path) {
    let files = [one, other].map(|path| File::create(path).unwrap());
    let which: usize = setting("WHICH", "0").parse().unwrap();
    (&files[which]).write_all(b"to one of them").unwrap();
}

/// Reads a line at a time, and says how far it has come, until it is killed.
fn slowly(path: &Path) {
    let file = BufReader::with_capacity(8, File::open(path).unwrap());
    for line in file.lines() {
        say(&line.unwrap());
    }
    say("ready");
    wait_to_be_killed();
}

/// The file is open when the recording begins.
fn early(path: &Path, trace: &Path) {
    let mut file = File::open(path).unwrap();
    let mut text = String::new();
    reenact::record_to(trace).unwrap();
    file.read_to_string(&mut text).unwrap();
    println!("{text}");
}
