//! Threads, actors and processes that all ask what is outside.

use std::{
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
};

use reenact::{
    actor::{self, System, Target},
    csp, external,
    fs::{self, File},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use crate::{digest, say};

pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "everyone" => everyone(Path::new(&arguments[0])),
        "without-end" => without_end(Path::new(&arguments[0])),
        _ => return false,
    }
    true
}

/// Threads and processes that read, and say what they have read, until they are killed.
fn without_end(directory: &Path) {
    let read = |who: &'static str| {
        let path = directory.join("input");
        move || {
            let mut file = File::open(path).unwrap();
            let mut buffer = [0; 3000];
            for number in 0u64.. {
                let count = file.read(&mut buffer).unwrap();
                let noise: u64 = external("noise", || std::process::id().into());
                if count == 0 {
                    file.rewind().unwrap();
                }
                let digest = digest(&buffer[..count]) ^ noise;
                say(&format!("{who} {number} {count} {digest:x}"));
            }
        }
    };
    // There is no trace before there is something to record.
    assert!(fs::exists(directory).unwrap());
    say("go");
    let threads = ["one", "two"].map(|who| thread::spawn(read(who)));
    csp::spawn(read("process"));
    for thread in threads {
        thread.join().unwrap();
    }
}

/// What everybody does: reads a file in pieces, writes another, asks for a value, lists the directory.
fn work(directory: &Path, who: &str, log: &Mutex<Vec<String>>) -> u64 {
    let mut file = File::open(directory.join("input")).unwrap();
    let mut buffer = [0; 700];
    let mut all = Vec::new();
    loop {
        let count = file.read(&mut buffer).unwrap();
        if count == 0 {
            break;
        }
        all.extend_from_slice(&buffer[..count]);
        log.lock().unwrap().push(format!("{who} {}", all.len()));
    }
    let noise = external(who, || std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap());
    log.lock().unwrap().push(format!("{who} {noise:?}"));
    let listed = fs::read_dir(directory).unwrap().count();
    log.lock().unwrap().push(format!("{who} lists {listed}"));
    fs::write(directory.join(format!("output-{who}")), &all).unwrap();
    digest(&all)
}

#[derive(Default)]
struct Reader;

fn everyone(directory: &Path) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let with = || (directory.to_path_buf(), Arc::clone(&log));
    let do_work = |who: String| {
        let (directory, log): (PathBuf, _) = with();
        move || work(&directory, &who, &log)
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let threads: Vec<_> = (0..2)
        .map(|n| thread::spawn(do_work(format!("thread{n}"))))
        .collect();
    let processes: Vec<_> = (0..3)
        .map(|n| {
            let work = do_work(format!("process{n}"));
            csp::spawn(move || {
                let digest = work();
                let mut stream = TcpStream::connect(address).unwrap();
                write!(stream, "{digest:x}").unwrap();
            })
        })
        .collect();
    let reader = actor::spawn(Reader);
    let answers: Vec<_> = (0..2)
        .map(|n| {
            let work = do_work(format!("actor{n}"));
            reader.ask(move |_, _| work())
        })
        .collect();
    for _ in 0..processes.len() {
        let mut text = String::new();
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_to_string(&mut text).unwrap();
        log.lock().unwrap().push(text);
    }
    for thread in threads {
        println!("{:x}", thread.join().unwrap());
    }
    for process in processes {
        process.join().unwrap();
    }
    for answer in answers {
        println!("{:x}", answer.wait().unwrap());
    }
    System::current().wait_until_idle();
    println!("{:#?}", log.lock().unwrap());
}
