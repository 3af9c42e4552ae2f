//! Sessions, as transcripts: what a script says and what is answered.

use std::fs;

use expect_test::{Expect, expect};

use crate::run::{Place, Run};

fn debug(file: &str, script: impl AsRef<[u8]>) -> (Place, Run) {
    let place = Place::new();
    place.example("listing1.at");
    fs::write(place.path("choice.amb"), "(+ (amb 1 2) (amb 3 4))").unwrap();
    let mut run = place.reenact_reading(&["debug", file], script);
    let lines = run.stdout.lines().map(|line| match line {
        line if line.starts_with("Memory: ") => "Memory: … per universe\n".to_owned(),
        line => format!("{line}\n"),
    });
    run.stdout = lines.collect();
    (place, run)
}

/// A session in which every command is understood.
fn check(script: &str, expected: Expect) {
    let (_, run) = debug("listing1.at", script);
    expected.assert_eq(&run.stdout);
    assert_eq!(run.stderr, "");
    assert_eq!(run.status.code(), Some(0));
}

/// A session in which some are not.
fn check_refused(script: &str, expected: Expect) {
    let (_, run) = debug("listing1.at", script);
    expected.assert_eq(&run.stdout);
    assert!(run.stderr.contains("failed"), "{}", run.stderr);
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn the_session_of_the_example_finds_the_bad_interleaving() {
    let place = Place::new();
    place.example("listing1.debug");
    let script = fs::read(place.path("listing1.debug")).unwrap();
    let (_, run) = debug("listing1.at", script);
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
        How universe 11 came about
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

        > ways start
        From the start: 270 universes, 579 steps between them
        Coverage: complete
        Memory: … per universe

        3 outcomes

        1.  math.result = 24
            client1 prints 24
            1 end, reached in 40,992 ways, the shortest of 24 steps:
               1. main begins (line 1)
               2. main creates the actor math (line 2)
               3. main creates the actor client1 (line 9)
               4. main creates the actor client2 (line 17)
               5. main sends start() to client1 (line 23)
               6. main sends start() to client2 (line 24)
               7. math begins; result := 0 (line 3)
               8. client1 begins (line 10)
               9. client1 processes start() from main (line 10)
              10. client2 begins (line 18)
              11. client2 processes start() from main (line 18)
              12. client2 sends double(33) to math (line 18)
              13. math processes double(33) from client2; result := 66 (line 4)
              14. client1 sends double(12) to math (line 11)
              15. math processes double(12) from client1; result := 24 (line 4)
              16. client1 sends getResult() to math (line 12)
              17. math processes getResult() from client1 (line 5)
              18. math answers client1 with 24
              19. client1 registers the block of line 12 with the answer to getResult (line 12)
              20. client1 receives 24 from math
              21. client1 lets the block of line 12 wait for the answer to getResult
              22. client1 wakes the block of line 12 with 24 (line 12)
              23. client1 runs the block of line 12 with 24; prints 24 (line 12)
              24. client1 resolves its future with null

        2.  math.result = 66
            client1 prints 24
            1 end, reached in 6,432,999 ways, the shortest of 24 steps:
               1. main begins (line 1)
               2. main creates the actor math (line 2)
               3. main creates the actor client1 (line 9)
               4. main creates the actor client2 (line 17)
               5. main sends start() to client1 (line 23)
               6. main sends start() to client2 (line 24)
               7. math begins; result := 0 (line 3)
               8. client1 begins (line 10)
               9. client1 processes start() from main (line 10)
              10. client1 sends double(12) to math (line 11)
              11. math processes double(12) from client1; result := 24 (line 4)
              12. client1 sends getResult() to math (line 12)
              13. math processes getResult() from client1 (line 5)
              14. math answers client1 with 24
              15. client1 registers the block of line 12 with the answer to getResult (line 12)
              16. client1 receives 24 from math
              17. client1 lets the block of line 12 wait for the answer to getResult
              18. client1 wakes the block of line 12 with 24 (line 12)
              19. client1 runs the block of line 12 with 24; prints 24 (line 12)
              20. client1 resolves its future with null
              21. client2 begins (line 18)
              22. client2 processes start() from main (line 18)
              23. client2 sends double(33) to math (line 18)
              24. math processes double(33) from client2; result := 66 (line 4)

        3.  math.result = 66
            client1 prints 66
            1 end, reached in 68,328 ways, the shortest of 24 steps:
               1. main begins (line 1)
               2. main creates the actor math (line 2)
               3. main creates the actor client1 (line 9)
               4. main creates the actor client2 (line 17)
               5. main sends start() to client1 (line 23)
               6. main sends start() to client2 (line 24)
               7. math begins; result := 0 (line 3)
               8. client1 begins (line 10)
               9. client1 processes start() from main (line 10)
              10. client1 sends double(12) to math (line 11)
              11. math processes double(12) from client1; result := 24 (line 4)
              12. client2 begins (line 18)
              13. client2 processes start() from main (line 18)
              14. client2 sends double(33) to math (line 18)
              15. math processes double(33) from client2; result := 66 (line 4)
              16. client1 sends getResult() to math (line 12)
              17. math processes getResult() from client1 (line 5)
              18. math answers client1 with 66
              19. client1 registers the block of line 12 with the answer to getResult (line 12)
              20. client1 receives 66 from math
              21. client1 lets the block of line 12 wait for the answer to getResult
              22. client1 wakes the block of line 12 with 66 (line 12)
              23. client1 runs the block of line 12 with 66; prints 66 (line 12)
              24. client1 resolves its future with null

    "#]].assert_eq(&run.stdout);
    assert_eq!(run.stderr, "");
    assert_eq!(run.status.code(), Some(0));
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
            There are none. To set one: help break

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
            There are none. To set one: help break

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
            The program has not run. To let it: run

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
            How universe 0 came about
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
            How universe 0 came about
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
            Nothing that can be seen differs between 0 and 0

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
    let (place, run) = debug("listing1.at", script);
    assert_eq!(run.status.code(), Some(0), "{}", run.stdout);
    let session = fs::read_to_string(place.path("session.dot")).unwrap();
    assert!(session.starts_with("digraph session {"));
    assert!(session.contains("fillcolor=pink"));
    let ahead = fs::read_to_string(place.path("ahead.dot")).unwrap();
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
        How universe 1 came about
             > pause
             > into of main
          1. main chooses 1 of (amb 1 2)
             > into of main
          2. main chooses 4 of (amb 3 4)
             > resume
          3. main reduces (+ 1 4) to 5

    "#]]
    .assert_eq(&run.stdout);
    assert_eq!(run.status.code(), Some(0));
}

#[test]
fn help_teaches() {
    check(
        "\
help
help break
help next-turn
help n
help to-receiver
help where
",
        expect![[r#"
            > help
            Commands
              break BREAKPOINT              Stop there, in every universe (b)
              breakpoints                   The breakpoints, by number (bl)
              delete NUMBER|all             Remove a breakpoint (d)
              run                           Run the program from its start, in all universes (r)
              step STEP [ACTIVITY] [TIMES] [in UNIVERSE|here]
                                            Take a step in all paused universes, or in one (s)
              steps                         What can be done in the selected universe, by activity
              universes                     How all universes stand: paused where, ended how (us)
              universe [N]                  Select a universe to look at (u)
              show [EXPR] [in UNIVERSE]     What can be seen in the selected universe (p)
              diff [N] M                    What differs between two universes
              story [N]                     How a universe came about, step by step (t)
              where EXPR                    In how many universes from here on this is true, and the way to the nearest (w)
              ends [in UNIVERSE|here|start] What can come of the program from here on (e)
              ways [in UNIVERSE|here|start] The same, with the shortest way to each end
              list [LINE [LAST]]            The text of the program, with breakpoints (*) and who stands where (>) (l)
              dot FILE [ahead]              Draw how the universes came about, for Graphviz
              schedule FILE [UNIVERSE]      Write the steps that lead to a universe to a file
              back                          Undo the last step
              help [COMMAND]                What can be typed, or more on a command or a step (h)
              quit                          Leave (q)

            Steps
              resume                        run to the next breakpoint (c, continue)
              pause                         pause everyone
              stop                          leave this universe alone
              into                          to the next operation of this activity (i)
              over                          …that is not deeper in calls (o)
              return                        …that is less deep in calls
              into-activity                 to the first action of what is created
              to-receiver                   to where the message is processed
              to-resolver                   to where its promise is resolved
              to-resolution                 to the callback that waits for its promise
              next-turn                     to the next turn of this activity (n)
              end-of-turn                   to the end of this turn (f)
              return-to-resolution          to the callback that waits for what this turn answers

            More on each: help COMMAND. On what to stop at: help break. A line that begins with # is a comment.

            > help break
            break BREAKPOINT
            Stop there, in every universe
            For short: b

            In general: break KIND [METHOD] [by ACTIVITY] [to ACTIVITY] [at LINE] [if EXPR]
            or:         break line LINE [if EXPR]
            or:         break temporal PATTERN [if EXPR], for what has happened so far

              break message-sender                     Who is about to send a message
              break message-receiver by math           math, about to process a message
              break message-receiver at 11             Who is about to process what line 11 has sent
              break before-turn double if math.result == 24
              break temporal (message-sender a) after (before-turn b)

            A breakpoint holds for what comes after it; run starts over. Without an argument, the breakpoints are listed.

            Kinds
              message-sender                before a message is sent
              message-receiver              before a message is processed, by where it was sent
              before-turn                   before the turn of a method
              after-turn                    after the turn of a method
              resolver                      before a promise is resolved
              resolution                    before a callback runs because its promise is resolved
              creation                      before an activity is created
              after-creation                after an activity was created
              begin                         before the first action of an activity
              after-begin                   after the first action of an activity

            > help next-turn
            next-turn [ACTIVITY] [TIMES] [in UNIVERSE|here]
            to the next turn of this activity

            > help n
            next-turn [ACTIVITY] [TIMES] [in UNIVERSE|here]
            to the next turn of this activity

            > help to-receiver
            to-receiver [ACTIVITY] [TIMES] [in UNIVERSE|here]
            to where the message is processed
            The activity has to be at a message send or a message send to a promise.

            > help where
            where EXPR
            In how many universes from here on this is true, and the way to the nearest
            For short: w

            It looks at everything that can happen from here on, whatever the breakpoints.

              where math.result == 66
              where math.inbox.length > 1 && client1 != null
              where contains(client1.printed, "66")

            Operators are || && == != < <= > >= + - * / % ! and there are contains(LIST, VALUE) and length(VALUE).
            What is not there is null.

        "#]],
    );
}

#[test]
fn an_error_says_its_line_and_the_session_goes_on() {
    check_refused(
        "\
# Nothing of this is right.

unvierses
break before-trun double
break before-turn double by
break line 100
next-turn
delete 7
delete
run fast
run
next-turn
universe 9
universe x
story 9
show math.foo
show nobody
show math.result +
where
where math.result ==
diff
diff 0 9
next-turn in
next-turn math 2 3
ends now
list 99
list x
dot
dot none/session.dot
help everything
back
universes
",
        expect![[r#"
            > unvierses
            error in line 3: there is no command unvierses; did you mean universes or universe?

            > break before-trun double
            error in line 4: there is no breakpoint before-trun; did you mean before-turn?
              before-trun double
              ^^^^^^^^^^^

            > break before-turn double by
            error in line 5: found the end, expected the name of an activity
              before-turn double by
                                   ^

            > break line 100
            error in line 6: there is nothing to stop at in line 100

            > next-turn
            error in line 7: the program has not run; to let it: run; to stop at its start: pause

            > delete 7
            error in line 8: there is no breakpoint 7

            > delete
            error in line 9: which one? Say the number of a breakpoint, or all

            > run fast
            error in line 10: run takes no argument

            > run
            3 universes ended
              [0] math.result = 66; client1 prints 24
              [1] math.result = 66; client1 prints 66
              [2] math.result = 24; client1 prints 24

            > next-turn
            error in line 12: no universe is paused; to start over: run

            > universe 9
            error in line 13: there is no universe 9, only 0 to 2

            > universe x
            error in line 14: x is not the number of a universe

            > story 9
            error in line 15: there is no universe 9, only 0 to 2

            > show math.foo
            error in line 16: there is no math.foo; in math there are result, does, inbox, printed, errors, waits

            > show nobody
            error in line 17: there is no nobody; there are main, math, client1, client2

            > show math.result +
            error in line 18: found the end, expected a path such as math.result, a number, a text in quotes, true, false, null, contains(…), length(…) or `(`
              math.result +
                           ^

            > where
            error in line 19: where what is true? See: help where

            > where math.result ==
            error in line 20: found the end, expected a path such as math.result, a number, a text in quotes, true, false, null, contains(…), length(…) or `(`
              math.result ==
                            ^

            > diff
            error in line 21: which universes? It is: diff [N] M

            > diff 0 9
            error in line 22: there is no universe 9, only 0 to 2

            > next-turn in
            error in line 23: in which universe? Say its number

            > next-turn math 2 3
            error in line 24: what is 2? It is: next-turn [ACTIVITY] [TIMES] [in UNIVERSE|here]

            > ends now
            error in line 25: what is now? Say in UNIVERSE, here, start, or nothing

            > list 99
            error in line 26: there are lines 1 to 24 only

            > list x
            error in line 27: x is not the number of a line

            > dot
            error in line 28: to which file? It is: dot FILE [ahead]

            > dot none/session.dot
            error in line 29: cannot write none/session.dot: No such file or directory (os error 2)

            > help everything
            error in line 30: there is no help on everything; help alone says what there is

            > back
            error in line 31: there is nothing to undo

            > universes
            3 universes ended
              [0] math.result = 66; client1 prints 24
              [1] math.result = 66; client1 prints 66
              [2] math.result = 24; client1 prints 24

        "#]],
    );
}

#[test]
fn how_many_commands_failed_is_said_at_the_end() {
    let (_, run) = debug("listing1.at", "run\nfly\nswim\n");
    assert_eq!(
        run.stderr,
        "reenact: 2 commands failed, the first in line 2\n"
    );
    let (_, run) = debug("listing1.at", "fly");
    assert_eq!(run.stderr, "reenact: 1 command failed, in line 1\n");
}

#[test]
fn an_end_or_a_farewell_ends_it() {
    for script in ["", "\n", "# Nothing", "quit", "q\nfly\n", "exit\nfly"] {
        let (_, run) = debug("listing1.at", script);
        assert_eq!(run.status.code(), Some(0), "{script:?}");
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn a_script_that_is_not_text_is_refused() {
    let (_, run) = debug("listing1.at", b"run\n\xff\n");
    assert_eq!(run.status.code(), Some(2));
    expect![[r#"
        reenact: line 2 of standard input is not text: byte 0 is not part of any character in UTF-8
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn a_script_without_lines_is_refused() {
    let (_, run) = debug("listing1.at", vec![b'x'; 2 << 20]);
    assert_eq!(run.status.code(), Some(2));
    assert_eq!(
        run.stderr,
        "reenact: cannot read commands: line 1 is too long\n"
    );
}

#[test]
fn nothing_that_is_typed_makes_it_fail() {
    let words = [
        "break",
        "next-turn",
        "in",
        "here",
        "0",
        "99999999999999999999",
        "-1",
        "\"",
        "\"\"",
        "(",
        "by",
        "if",
        "math",
        "show",
        "🦀",
        "`",
        "\\",
        "\t",
        "diff",
        "list",
        "story",
        "where",
        "run",
        "resume",
        "back",
        "u",
        "delete",
        "steps",
        "ends",
        "into",
        "pause",
        "stop",
    ];
    let mut script = String::new();
    let mut seed = 1_u64;
    for _ in 0..400 {
        for _ in 0..4 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            script.push_str(words[(seed >> 33) as usize % words.len()]);
            script.push(' ');
        }
        script.push('\n');
    }
    let (_, run) = debug("listing1.at", script);
    assert_eq!(run.status.code(), Some(1), "{}", run.stderr);
}

#[test]
fn help_for_debug_shows_a_session() {
    let run = Place::new().reenact(&["debug", "-h"]);
    expect![[r#"
        Debug a program in all its universes at once

        Usage: reenact debug [OPTIONS] [FILE] [-- <CMD>...]

        Arguments:
          [FILE]    The program, or a recording
          [CMD]...  A Rust program that uses reenact, with its arguments

        Options:
              --single-step         One step per rule (default: one step up to the next visible action)
              --unlocks             With a Rust program: make every unlock a step, even where it makes no
                                    difference
              --max-states <N>      Maximum number of universes [default: 5 million; with breakpoints, 1
                                    million]
              --max-time <SECONDS>  Maximum time, in seconds
          -h, --help                Print help (see more with '--help')

        Examples:
          reenact debug listing1.at                    Then type: help
          reenact debug listing1.at < listing1.debug   Run the commands in a file
          reenact debug -- ./app --fast                Debug a Rust program that uses reenact
          reenact debug run.reenact                    Start at the end of a recording

        An example session:
          ends                                List the outcomes of the program
          break message-receiver by math      Stop before math processes a message
          run                                 Run until then, in every universe
          show math.inbox                     Show the messages that math has received
          next-turn                           Step to its next message, in every universe
          universes                           List the universes
          story 1                             Show the schedule that leads to universe 1

        Exit status: 0; 1 if a command on standard input failed (the rest still run); 2 if the program is
        not valid.
    "#]].assert_eq(&run.stdout);
}
