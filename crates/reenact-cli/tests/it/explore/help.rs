//! The short help.

use expect_test::expect;

use crate::run::Directory;

#[test]
fn help_for_explore_says_what_the_exit_status_is() {
    let run = Directory::new().reenact(&["explore", "-h"]);
    expect![[r#"
        Run a program under every schedule, or as many as you allow

        Usage: reenact explore [OPTIONS] [FILE] [-- <CMD>...]

        Arguments:
          [FILE]  The program, or a recording

        Options:
          -h, --help  Print help (see more with '--help')

        Rust programs and recordings:
              --strategy <NAME>     How to choose executions: portfolio, exhaustive, mixed, urw, walk, 'pct
                                    N', 'pctcp N', pos, 'preemptions N', 'delays N' [default: portfolio]
              --executions <N>      Maximum number of executions
              --max-steps <N>       Maximum number of steps of an execution [default: 20000]
              --seed <N>            Seed of the random strategies [default: 0]
              --cores <N>           With a program (-- CMD): number of cores to use, where the work can be
                                    divided [default: 1]
              --schedule <FILE>     Follow this schedule once, and show what the program prints
          -o, --output <FILE>       File to write schedules to [default: the program's name with .schedule,
                                    in this directory]
              --from <EVENT>        With a recording: keep the recorded schedule up to this operation
              --near <N>            With a recording: maximum number of reorderings [default: 2]
              --other-outcomes      With a recording: find every other outcome, with any number of
                                    reorderings
              --force               With a recording: explore even if the program is not the one that was
                                    recorded
              --break <BREAKPOINT>  Stop at this breakpoint, in every universe; may be given several times
              --step <STEP>         Then take this step in every paused universe, such as next-turn or
                                    'next-turn math'; may be given several times
              --where <EXPR>        Count the universes in which this is true, and print a shortest schedule
                                    to one of them
              --reduced             Find every end, but skip universes that do not lead to another one
              --depth-first         Search depth first, on one core
              --single-step         One step per rule (default: one step up to the next visible action)
              --workers <N>         Number of cores to use [default: all]; for a Rust program, see --cores
              --max-states <N>      Maximum number of universes [default: 5 million; with breakpoints, 1
                                    million]
              --max-time <SECONDS>  Maximum time, in seconds
              --max-depth <N>       Maximum number of steps in a row
              --max-memory <MB>     Maximum memory [default: 2048]
              --stories             Print a schedule for every outcome, however many there are
              --no-stories          Print no schedules
              --dot                 Print only a graph, for Graphviz
              --json                Print only a JSON object
              --graph               With --json: also print every universe, and every step between them
          [CMD]...                  A Rust program that uses reenact, with its arguments

        Examples:
          reenact explore -- ./app --fast                          Try schedules until one fails
          reenact explore --schedule app.schedule -- ./app --fast  Repeat the failure, with its output
          reenact explore bug.reenact                              Try schedules similar to the recorded one
          reenact explore listing1.at                              Find every outcome
          reenact explore listing1.at --where 'math.result == 66'  Find where the result is 66
          reenact explore listing1.at --break 'message-receiver by math' --step next-turn
          reenact explore listing1.at --dot | dot -Tsvg > listing1.svg

        Exit status: 0 if nothing fails; 1 if there is a failure, a deadlock, an uncaught error or a
        livelock; 2 if the program or an option is not valid.
    "#]].assert_eq(&run.stdout);
}
