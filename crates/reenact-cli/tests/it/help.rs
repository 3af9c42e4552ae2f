use expect_test::expect;

use crate::run::Directory;

#[test]
fn help_teaches_by_example() {
    let run = Directory::new().reenact(&["--help"]);
    assert!(run.status.success());
    expect![[r#"
        Record, replay and explore concurrent Rust programs.

        A program that uses reenact::{thread, sync} in place of std::{thread, sync}, or one of reenact's
        other models, can be recorded without another build. The recording is one small file. A replay
        repeats every lock, message and wake-up in the recorded order, so that a failure that happened once
        happens every time.

        Such a program, or a recording of it, can also be explored: run under other schedules, and debugged
        in all of them at once.

        Usage: reenact <COMMAND>

        Commands:
          record   Run a program and record it
          replay   Repeat a recorded run exactly
          trace    Inspect a recording
          explore  Run a program under every schedule, or as many as you allow
          debug    Debug a program in all its universes at once
          demo     Record and replay a small program with an ordering bug
          help     Print this message or the help of the given subcommand(s)

        Options:
          -h, --help
                  Print help (see a summary with '-h')

          -V, --version
                  Print version

        Examples:
          reenact demo                               Record and replay a small program with a bug
          reenact demo actors                        The same with actors
          reenact record -- ./app --port 80          Run ./app and record it to app.reenact
          reenact replay app.reenact                 Repeat the run
          reenact replay app.reenact --times 100     Repeat it a hundred times
          reenact trace stats app.reenact            Summarize the recording
          reenact explore app.reenact                Try schedules similar to the recorded one
          reenact explore -- ./app                   Try schedules until one fails
          reenact debug -- ./app                     Debug it under all schedules at once
    "#]].assert_eq(&run.stdout);
}

#[test]
fn help_for_record_says_what_the_exit_status_is() {
    let run = Directory::new().reenact(&["record", "-h"]);
    expect![[r#"
        Run a program and record it

        Usage: reenact record [-o FILE] [--strategy SIDE] [--redact NAME,...] -- CMD...

        Arguments:
          <CMD>...  The program and its arguments

        Options:
          -o, --output <FILE>      File to write the recording to [default: the program's name with
                                   .reenact, in this directory]
              --strategy <SIDE>    Which side of a message to an actor records its order [default: receiver]
                                   [possible values: receiver, sender]
              --redact <NAME,...>  What to leave out of the recording, separated by commas, such as
                                   header:authorization,env:TOKEN
          -h, --help               Print help (see more with '--help')

        Examples:
          reenact record -- ./app                    Record to app.reenact
          reenact record -o bug.reenact -- ./app -v  Record to bug.reenact
          reenact record --redact header:authorization,env:DB_PASSWORD -- ./app
          while reenact record -- ./app; do :; done  Record until it fails

        Exit status: that of CMD; 125 if reenact itself failed, 126 or 127 if CMD could not be run.
    "#]].assert_eq(&run.stdout);
}

#[test]
fn help_for_replay_says_what_the_exit_status_is() {
    let run = Directory::new().reenact(&["replay", "-h"]);
    expect![[r#"
        Repeat a recorded run exactly

        Usage: reenact replay [OPTIONS] <FILE> [-- <CMD>...]

        Arguments:
          <FILE>    The recording
          [CMD]...  The program, if it has moved; arguments after it replace the recorded ones

        Options:
              --times <N>     Number of replays; the program's output is shown the first time only [default:
                              1]
              --force         Replay even if the program is not the one that was recorded
              --log[=<FILE>]  Print every operation in order; with =FILE, write them to FILE
              --really-write  Write to files and sockets during the replay
          -v, --verbose       Show the program's output every time
              --json          Print one JSON object per replay; the program's output goes to standard error
          -h, --help          Print help (see more with '--help')

        Examples:
          reenact replay bug.reenact                 Replay once, with the program's output
          reenact replay bug.reenact --times 100     Replay a hundred times
          reenact replay bug.reenact --log           Print every operation in order
          reenact replay bug.reenact -- ./app        Replay a program that has moved

        Exit status: that of the program if it ended as recorded (with --times: 0 if it did so every time);
        0 if the recording ends before the program does; 86 if a replay differed from the recording; 125 if
        reenact itself failed.
    "#]].assert_eq(&run.stdout);
}

#[test]
fn no_command_is_a_question_for_help() {
    let run = Directory::new().reenact(&[]);
    run.assert_status(2);
    run.assert_stderr_has("Usage: reenact <COMMAND>");
}
