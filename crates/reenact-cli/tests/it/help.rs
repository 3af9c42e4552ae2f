use expect_test::expect;

use crate::run::Place;

#[test]
fn help_teaches_by_example() {
    let run = Place::new().reenact(&["--help"]);
    assert!(run.status.success());
    expect![[r#"
        Record a concurrent Rust program, and replay what happened as often as you like.

        A program that uses reenact::{thread, sync} in place of std::{thread, sync}, or reenact::actor, can
        be recorded as it is, without another build. The recording is one small file; replaying it takes
        every lock, message and wake-up in the order in which they happened, so that a failure that came
        once comes every time.

        A program of actors in AmbientTalk can be debugged in all its universes at once: every order of its
        messages, with what comes of it.

        Usage: reenact <COMMAND>

        Commands:
          record   Run a program and keep how it went
          replay   Run a recorded program again, exactly as it went
          trace    Look into a recording
          explore  See everything that a program can do, whatever the order of its threads or messages
          debug    Debug a program in all its universes at once
          demo     See it work: catch a bug that comes and goes, and replay it
          help     Print this message or the help of the given subcommand(s)

        Options:
          -h, --help
                  Print help (see a summary with '-h')

          -V, --version
                  Print version

        Examples:
          reenact demo                               See it work on a bug that comes and goes
          reenact demo actors                        …and on messages that come in a bad order
          reenact record -- ./app --port 80          Run ./app and keep how it went in app.reenact
          reenact replay app.reenact                 The same run again
          reenact replay app.reenact --times 100     …and a hundred times, to be sure
          reenact trace stats app.reenact            What the recording holds
          reenact explore bank.at                    Everything that a program of actors can do
          reenact debug bank.at                      …step by step, in all universes at once
    "#]].assert_eq(&run.stdout);
}

#[test]
fn help_for_record_says_what_the_exit_status_is() {
    let run = Place::new().reenact(&["record", "-h"]);
    expect![[r#"
        Run a program and keep how it went

        Usage: reenact record [-o FILE] [--strategy SIDE] [--redact NAME,...] -- CMD...

        Arguments:
          <CMD>...  The program and its arguments

        Options:
          -o, --output <FILE>      Where the recording goes [default: the program's name with .reenact, in
                                   this directory]
              --strategy <SIDE>    Which side of a message to an actor writes its place in the order down
                                   [default: receiver] [possible values: receiver, sender]
              --redact <NAME,...>  What to keep out of the recording, with commas between, such as
                                   header:authorization,env:TOKEN
          -h, --help               Print help (see more with '--help')

        Examples:
          reenact record -- ./app                    Recorded to app.reenact
          reenact record -o bug.reenact -- ./app -v  Recorded to bug.reenact
          reenact record --redact header:authorization,env:DB_PASSWORD -- ./app
          while reenact record -- ./app; do :; done  Again and again until it fails

        Exit status: that of CMD; 125 if reenact itself failed, 126 or 127 if CMD could not be run.
    "#]].assert_eq(&run.stdout);
}

#[test]
fn help_for_replay_says_what_the_exit_status_is() {
    let run = Place::new().reenact(&["replay", "-h"]);
    expect![[r#"
        Run a recorded program again, exactly as it went

        Usage: reenact replay [OPTIONS] <FILE> [-- <CMD>...]

        Arguments:
          <FILE>    The recording
          [CMD]...  Where the program is now, if it has moved; arguments after it replace the recorded ones

        Options:
              --times <N>     How often; the program's output is shown the first time only [default: 1]
              --force         Replay even though the program is not the one that was recorded
              --log[=<FILE>]  Show every operation in the order in which they happened; with =FILE, write
                              that to FILE
              --really-write  Really write to files and sockets what the program writes
          -v, --verbose       Show the program's output every time
              --json          Print one JSON object per replay; the program's output goes to standard error
          -h, --help          Print help (see more with '--help')

        Examples:
          reenact replay bug.reenact                 Once, with the program's output
          reenact replay bug.reenact --times 100     A hundred times
          reenact replay bug.reenact --log           Then show who did what, in order
          reenact replay bug.reenact -- ./app        The program is here now

        Exit status: that of the program if it ended as recorded (with --times: 0 if it did so every time);
        0 if the recording ends before the program does; 86 if a replay went another way; 125 if reenact
        itself failed.
    "#]].assert_eq(&run.stdout);
}

#[test]
fn no_command_is_a_question_for_help() {
    let run = Place::new().reenact(&[]);
    assert_eq!(run.status.code(), Some(2));
    assert!(run.stderr.contains("Usage: reenact <COMMAND>"));
}
