//! Programs that start others.

use std::io::{Read, Write};

use reenact::process::{self, Command, Stdio};

use crate::setting;

pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "commands" => commands(&arguments[0]),
        "command" => println!(
            "{:?}",
            Command::new(&arguments[0])
                .arg(setting("TEXT", "usual"))
                .stdout(Stdio::null())
                .status()
        ),
        _ => return false,
    }
    true
}

/// Starts a script that repeats its input, after its arguments and a variable.
fn commands(script: &str) {
    println!("{}", process::id());
    let output = Command::new(script)
        .args(["one", "two"])
        .env("WORD", "three")
        .output()
        .unwrap();
    println!("{output:?}");
    println!("{:?}", Command::new(script).stdout(Stdio::null()).status());
    let mut child = Command::new(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    println!("{} {:?}", child.id(), child.try_wait());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"from the other side").unwrap();
    drop(stdin);
    let mut text = String::new();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut text).unwrap();
    println!("{text:?} {:?} {:?}", child.wait(), child.stderr.is_some());
    let child = Command::new(script)
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    println!("{:?}", child.wait_with_output());
    let mut child = Command::new(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.kill().unwrap();
    println!("{:?}", child.wait());
    let error = Command::new("/no/such/program").spawn().unwrap_err();
    println!("{error}");
}
