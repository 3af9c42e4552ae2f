//! Sessions, as transcripts: what a script says and what is answered.

mod help;
mod refused;

use std::fs;

use expect_test::{Expect, expect};

use crate::run::{Directory, Run};

fn debug(file: &str, script: impl AsRef<[u8]>) -> (Directory, Run) {
    let directory = Directory::new();
    directory.example("listing1.at");
    fs::write(directory.path("choice.amb"), "(+ (amb 1 2) (amb 3 4))").unwrap();
    let run = directory.reenact_reading(&["debug", file], script);
    (directory, run.without_memory())
}

/// A session in which every command is understood.
fn check(script: &str, expected: Expect) {
    let (_, run) = debug("listing1.at", script);
    expected.assert_eq(&run.stdout);
    assert_eq!(run.stderr, "");
    run.assert_status(0);
}

#[test]
fn the_session_of_the_example_finds_the_bad_interleaving() {
    let directory = Directory::new();
    directory.example("listing1.debug");
    let script = fs::read(directory.path("listing1.debug")).unwrap();
    let (directory, run) = debug("listing1.at", script);
    // The last command prints what the other command prints.
    let (session, ways) = run.stdout.split_once("> ways start\n").unwrap();
    let explored = directory
        .reenact(&["explore", "listing1.at"])
        .without_memory();
    let explored = explored.stdout.replace("listing1.at: ", "From the start: ");
    assert_eq!(ways, explored + "\n");
    expect![[r#"
        > ends
        From the start: 270 universes, 579 steps between them
        Coverage: complete
        Memory: … per universe

        3 outcomes

        1.  math.result = 24
            client1 prints 24
            1 end, reached in 40,992 ways, the shortest of 24 steps

        2.  math.result = 66
            client1 prints 24
            1 end, reached in 6,432,999 ways, the shortest of 24 steps

        3.  math.result = 66
            client1 prints 66
            1 end, reached in 68,328 ways, the shortest of 24 steps

        > break message-receiver by math
        Breakpoint 1: message-receiver by math

        > run
        34 universes paused at breakpoint 1 (message-receiver by math)
          27 of them [0–1, 3–5, 7–10, 12–19, 21–25, 27–29, 31–32] next, math processes double(12) from client1; result := 24
          7 of them [2, 6, 11, 20, 26, 30, 33] next, math processes double(33) from client2; result := 66

        > show math.inbox
        - {name: "double", args: [12], from: "client1", line: 11}

        > next-turn math
        26 universes paused after next-turn
          18 of them [0–10, 13–16, 19–20, 23] next, math processes getResult() from client1
          4 of them [11, 17, 21, 24] next, math processes double(33) from client2; result := 66
          4 of them [12, 18, 22, 25] next, math processes double(12) from client1; result := 24

        > universe 11
        Universe 11 paused after next-turn
          next, math processes double(33) from client2; result := 66

        > show math.inbox
        - {name: "double", args: [33], from: "client2", line: 18}

        > diff 0 11
        From universe 0 to 11
          main.does: "sends start() to client2" → "idle"
          math.inbox[0].name: "getResult" → "double"
          math.inbox[0].args[0]: nothing → 33
          math.inbox[0].from: "client1" → "client2"
          math.inbox[0].line: 12 → 18
          client1.does: "registers the block of line 12 with the answer to getResult" → "sends getResult() to math"
          client2.math: null → "math"
          client2.does: "begins" → "idle"

        > story
        The steps to universe 11
           1. main begins (line 1)
           2. main creates the actor math (line 2)
           3. main creates the actor client1 (line 9)
           4. main creates the actor client2 (line 17)
           5. main sends start() to client1 (line 23)
           6. main sends start() to client2 (line 24)
           7. client1 begins (line 10)
           8. client1 processes start() from main (line 10)
           9. client1 sends double(12) to math (line 11)
          10. client2 begins (line 18)
          11. client2 processes start() from main (line 18)
          12. client2 sends double(33) to math (line 18)
          13. math begins; result := 0 (line 3)
              > next-turn of math
          14. math processes double(12) from client1; result := 24 (line 4)

        > ends here
        From universe 11: 21 universes, 27 steps between them
        Coverage: complete
        Memory: … per universe

        1 outcome

        1.  math.result = 66
            client1 prints 66
            1 end, reached in 16 ways, the shortest of 10 steps

    "#]].assert_eq(session);
    assert_eq!(run.stderr, "");
    run.assert_status(0);
}

#[test]
fn breakpoints_are_set_listed_and_removed() {
    check(
        "\
breakpoints
break message-sender double by client2
b line 13 if math.result == 66
breakpoints
delete 1
run
delete all
break
",
        expect![[r#"
            > breakpoints
            There are no breakpoints. To set one, see: help break

            > break message-sender double by client2
            Breakpoint 1: message-sender double by client2

            > b line 13 if math.result == 66
            Breakpoint 2: line 13 if math.result == 66

            > breakpoints
            1: message-sender double by client2
            2: line 13 if math.result == 66

            > delete 1
            Removed 1: message-sender double by client2

            > run
            2 universes paused at breakpoint 2 (line 13 if math.result == 66)
              [0] next, client1 goes on in line 13; prints 24
              [1] next, client1 goes on in line 13; prints 66
            2 universes ended
              [2] math.result = 66; client1 prints 24
              [3] math.result = 24; client1 prints 24

            > delete all
            Removed 2: line 13 if math.result == 66

            > break
            There are no breakpoints. To set one, see: help break

        "#]],
    );
}

#[test]
fn a_step_is_taken_in_one_universe_or_in_all_and_undone() {
    check(
        "\
break before-turn double
run
universe 2
next-turn math in 2
resume here
resume
back
back
",
        expect![[r#"
            > break before-turn double
            Breakpoint 1: before-turn double

            > run
            34 universes paused at breakpoint 1 (before-turn double)
              27 of them [0–1, 3–5, 7–10, 12–19, 21–25, 27–29, 31–32] next, math processes double(12) from client1; result := 24
              7 of them [2, 6, 11, 20, 26, 30, 33] next, math processes double(33) from client2; result := 66

            > universe 2
            Universe 2 paused at breakpoint 1 (before-turn double)
              next, math processes double(33) from client2; result := 66

            > next-turn math in 2
            33 universes paused at breakpoint 1 (before-turn double)
              27 of them [0–1, 6–8, 10–13, 15–22, 24–28, 30–32, 34–35] next, math processes double(12) from client1; result := 24
              6 of them [9, 14, 23, 29, 33, 36] next, math processes double(33) from client2; result := 66
            4 universes paused after next-turn
              [2–5] next, math processes double(12) from client1; result := 24

            > resume here
            33 universes paused at breakpoint 1 (before-turn double)
              27 of them [0–1, 6–8, 10–13, 15–22, 24–28, 30–32, 34–35] next, math processes double(12) from client1; result := 24
              6 of them [9, 14, 23, 29, 33, 36] next, math processes double(33) from client2; result := 66
            1 universe ended
              [2] math.result = 24; client1 prints 24
            3 universes paused after next-turn
              [3–5] next, math processes double(12) from client1; result := 24

            > resume
            1 universe ended
              [0] math.result = 24; client1 prints 24
            18 universes paused at breakpoint 1 (before-turn double)
              14 of them [1, 3, 5, 7, 9–18] next, math processes double(33) from client2; result := 66
              4 of them [2, 4, 6, 8] next, math processes double(12) from client1; result := 24

            > back
            33 universes paused at breakpoint 1 (before-turn double)
              27 of them [0–1, 6–8, 10–13, 15–22, 24–28, 30–32, 34–35] next, math processes double(12) from client1; result := 24
              6 of them [9, 14, 23, 29, 33, 36] next, math processes double(33) from client2; result := 66
            1 universe ended
              [2] math.result = 24; client1 prints 24
            3 universes paused after next-turn
              [3–5] next, math processes double(12) from client1; result := 24

            > back
            33 universes paused at breakpoint 1 (before-turn double)
              27 of them [0–1, 6–8, 10–13, 15–22, 24–28, 30–32, 34–35] next, math processes double(12) from client1; result := 24
              6 of them [9, 14, 23, 29, 33, 36] next, math processes double(33) from client2; result := 66
            4 universes paused after next-turn
              [2–5] next, math processes double(12) from client1; result := 24

        "#]],
    );
}

#[test]
fn a_program_can_be_stepped_from_its_start() {
    check(
        "\
universes
pause
into main
into main 2
story
steps
stop
",
        expect![[r#"
            > universes
            The program has not run yet. To run it, type: run

            > pause
            1 universe paused
              [0] next, main begins

            > into main
            1 universe paused after into
              [0] next, main creates the actor math

            > into main 2
            2 universes paused after into
              [0–1] next, main creates the actor client2

            > story
            The steps to universe 0
                 > pause
                 > into of main
              1. main begins (line 1)
                 > into 2 of main
              2. main creates the actor math (line 2)
              3. main creates the actor client1 (line 9)

            > steps
            main (stopped) creates the actor client2
              resume, stop, into, over, return, into-activity, next-turn
            math begins; result := 0
              resume, stop, into, over, return, next-turn
            client1 begins
              resume, stop, into, over, return, next-turn

            > stop
            2 universes stopped
              [0–1]

        "#]],
    );
}

#[test]
fn what_was_sent_is_followed() {
    check(
        "\
break message-sender getResult
run
to-receiver
story
back
to-resolution
universe 8
",
        expect![[r#"
            > break message-sender getResult
            Breakpoint 1: message-sender getResult

            > run
            13 universes paused at breakpoint 1 (message-sender getResult)
              [0–12] next, client1 sends getResult() to math

            > to-receiver
            8 universes paused after to-receiver
              [0–7] next, math processes getResult() from client1

            > story
            The steps to universe 0
               1. main begins (line 1)
               2. main creates the actor math (line 2)
               3. main creates the actor client1 (line 9)
               4. main creates the actor client2 (line 17)
               5. main sends start() to client1 (line 23)
               6. math begins; result := 0 (line 3)
               7. client1 begins (line 10)
               8. client1 processes start() from main (line 10)
               9. client1 sends double(12) to math (line 11)
                  > to-receiver of client1
              10. math processes double(12) from client1; result := 24 (line 4)
              11. client1 sends getResult() to math (line 12)

            > back
            13 universes paused at breakpoint 1 (message-sender getResult)
              [0–12] next, client1 sends getResult() to math

            > to-resolution
            9 universes paused after to-resolution
              8 of them [0–7] next, client1 runs the block of line 12 with 24; prints 24
              [8] next, client1 runs the block of line 12 with 66; prints 66

            > universe 8
            Universe 8 paused after to-resolution
              next, client1 runs the block of line 12 with 66; prints 66

        "#]],
    );
}

#[test]
fn the_text_shows_who_stands_where() {
    check(
        "\
break line 12
run
list
list 12
list 1 2
",
        expect![[r#"
            > break line 12
            Breakpoint 1: line 12

            > run
            13 universes paused at breakpoint 1 (line 12)
              [0–12] next, client1 goes on in line 12

            > list
               1  def makeMath() {
               2      actor: {
             > 3          def result := 0;   <- math
               4          def double(x) { result := x+x };
               5          def getResult() { result };
               6      }
               7  };
               8  def makeClient1(math) {
               9      actor: { |math|
              10          def start() {
              11              math<-double(12);
            *>12              when: math<-getResult()@FutureMessage becomes: { |res|   <- client1
              13                  system.println(res);
              14              }}}
              15  };
              16  def makeClient2(math) {
              17      actor: { |math|
             >18          def start() { math<-double(33) }}   <- client2
              19  };
              20  def math := makeMath();
              21  def client1 := makeClient1(math);
              22  def client2 := makeClient2(math);
              23  client1<-start();
             >24  client2<-start();   <- main

            > list 12
               7  };
               8  def makeClient1(math) {
               9      actor: { |math|
              10          def start() {
              11              math<-double(12);
            *>12              when: math<-getResult()@FutureMessage becomes: { |res|   <- client1
              13                  system.println(res);
              14              }}}
              15  };
              16  def makeClient2(math) {
              17      actor: { |math|

            > list 1 2
              1  def makeMath() {
              2      actor: {

        "#]],
    );
}

#[test]
fn a_universe_can_be_looked_at_and_compared() {
    check(
        "\
break message-receiver by math
run
show
show math.inbox[0].args
show math.inbox.length > 0 in 2
diff 0 2
diff 0
where math.result == 66
where math.result == 67
",
        expect![[r#"
            > break message-receiver by math
            Breakpoint 1: message-receiver by math

            > run
            34 universes paused at breakpoint 1 (message-receiver by math)
              27 of them [0–1, 3–5, 7–10, 12–19, 21–25, 27–29, 31–32] next, math processes double(12) from client1; result := 24
              7 of them [2, 6, 11, 20, 26, 30, 33] next, math processes double(33) from client2; result := 66

            > show
            main:
              math: "math"
              client1: "client1"
              client2: "client2"
              does: "sends start() to client2"
              inbox: []
              printed: []
              errors: []
              waits: 0
            math:
              result: 0
              does: "idle"
              inbox:
                - {name: "double", args: [12], from: "client1", line: 11}
              printed: []
              errors: []
              waits: 0
            client1:
              math: "math"
              does: "sends getResult() to math"
              inbox: []
              printed: []
              errors: []
              waits: 0
            client2:
              math: null
              does: "begins"
              inbox: []
              printed: []
              errors: []
              waits: 0

            > show math.inbox[0].args
            [12]

            > show math.inbox.length > 0 in 2
            true

            > diff 0 2
            From universe 0 to 2
              main.does: "sends start() to client2" → "idle"
              math.inbox[0].args[0]: 12 → 33
              math.inbox[0].from: "client1" → "client2"
              math.inbox[0].line: 11 → 18
              client1.math: "math" → null
              client1.does: "sends getResult() to math" → "begins"
              client1.inbox[0]: nothing → {name: "start", args: [], from: "main", line: 23}
              client2.math: null → "math"
              client2.does: "begins" → "idle"

            > diff 0
            There is no visible difference between 0 and 0

            > where math.result == 66
            34 universes of the 190 that can be reached from here; the nearest after 1 step from universe 2:
              1. math processes double(33) from client2; result := 66 (line 4)

            > where math.result == 67
            none of the 190 that can be reached from here

        "#]],
    );
}

#[test]
fn pictures_are_written() {
    let script =
        "break message-receiver by math\nrun\nnext-turn\ndot session.dot\ndot ahead.dot ahead\n";
    let (directory, run) = debug("listing1.at", script);
    run.assert_status(0);
    let session = fs::read_to_string(directory.path("session.dot")).unwrap();
    assert!(session.starts_with("digraph session {"));
    assert!(session.contains("fillcolor=pink"));
    let ahead = fs::read_to_string(directory.path("ahead.dot")).unwrap();
    assert!(ahead.starts_with("digraph multiverse {"));
    assert!(ahead.contains("fillcolor=red"));
}

#[test]
fn any_language_can_be_debugged() {
    let (_, run) = debug(
        "choice.amb",
        "pause\ninto\ninto\nresume\nuniverse 1\nstory\n",
    );
    expect![[r#"
        > pause
        1 universe paused
          [0] next, main chooses 1 of (amb 1 2) or chooses 2 of (amb 1 2)

        > into
        2 universes paused after into
          [0–1] next, main chooses 3 of (amb 3 4) or chooses 4 of (amb 3 4)

        > into
        4 universes paused after into
          [0] next, main reduces (+ 1 3) to 4
          [1] next, main reduces (+ 1 4) to 5
          [2] next, main reduces (+ 2 3) to 5
          [3] next, main reduces (+ 2 4) to 6

        > resume
        3 universes ended
          [0] 4
          [1] 5
          [2] 6

        > universe 1
        Universe 1 ended
          5

        > story
        The steps to universe 1
             > pause
             > into of main
          1. main chooses 1 of (amb 1 2)
             > into of main
          2. main chooses 4 of (amb 3 4)
             > resume
          3. main reduces (+ 1 4) to 5

    "#]]
    .assert_eq(&run.stdout);
    run.assert_status(0);
}
