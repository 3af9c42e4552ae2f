//! Actors of Rust programs, which are as visible as those of AmbientTalk.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};

use crate::{program::example, run::Directory};

/// Listing 1 of "Multiverse Debugging", in one of the two languages.
#[derive(Clone, Copy)]
enum Listing {
    Rust,
    AmbientTalk,
}

/// What the two call the same.
const NAMES: [(&str, &str); 4] = [
    ("math", "main.a0"),
    ("client1", "main.a1"),
    ("client2", "main.a2"),
    ("getResult", "get_result"),
];

impl Listing {
    /// A session. Names are those of AmbientTalk, in the script and in what is said.
    fn debug(self, script: &str) -> String {
        let directory = Directory::new();
        let run = match self {
            Listing::Rust => {
                let script = script.replace("math.result", "`math`.state.result");
                let script = script.replace("show math", "show `math`");
                let script = NAMES.iter().fold(script, |script, (ambient, rust)| {
                    script.replace(ambient, rust)
                });
                directory.reenact_reading(&["debug", "--", example("listing1")], script)
            }
            Listing::AmbientTalk => {
                directory.example("listing1.at");
                directory.reenact_reading(&["debug", "listing1.at"], script)
            }
        };
        assert_eq!(run.stderr, "", "{}", run.stdout);
        NAMES.iter().fold(run.stdout, |said, (ambient, rust)| {
            said.replace(rust, ambient)
        })
    }
}

/// What comes next in the universes that are paused, and the first of each, after the command.
fn next(said: &str, command: &str) -> Vec<(String, usize)> {
    let (_, said) = said.split_once(&format!("> {command}\n")).unwrap();
    let said = said.split("\n\n").next().unwrap();
    let mut next: Vec<_> = said
        .lines()
        .filter_map(|line| {
            let (universes, next) = line.split_once("] next, ")?;
            let first = universes.split_once('[')?.1;
            let first = first.split([',', '–']).next()?.parse().ok()?;
            let next = next.replace("handles", "processes");
            Some((next.split(';').next()?.to_owned(), first))
        })
        .collect();
    next.sort();
    next
}

fn texts(next: &[(String, usize)]) -> Vec<&str> {
    next.iter().map(|(text, _)| text.as_str()).collect()
}

/// The outcomes that are listed, without who prints.
fn outcomes(said: &str) -> BTreeSet<String> {
    let lines = said.lines().map(|line| {
        let line = line.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        line.trim()
    });
    let mut outcomes = BTreeSet::new();
    let mut result = String::new();
    for line in lines {
        if line.starts_with("math.result = ") {
            line.clone_into(&mut result);
        } else if let Some((_, printed)) = line.split_once("prints ") {
            outcomes.insert(format!("{result}, prints {printed}"));
        }
    }
    outcomes
}

/// The story of section 5.2: the ends, a breakpoint at the messages of math, a step to its next turn, and there a look at its
/// inbox shows the message that came in between.
#[test]
fn the_story_of_listing_1_is_the_same_in_both_languages() {
    for listing in [Listing::Rust, Listing::AmbientTalk] {
        let said = listing.debug("ends\nbreak message-receiver by math\nrun\nnext-turn math\n");
        assert_eq!(
            outcomes(&said).iter().collect::<Vec<_>>(),
            [
                "math.result = 24, prints 24",
                "math.result = 66, prints 24",
                "math.result = 66, prints 66",
            ]
        );
        assert_eq!(
            texts(&next(&said, "run")),
            [
                "math processes double(12) from client1",
                "math processes double(33) from client2",
            ]
        );
        let turns = next(&said, "next-turn math");
        assert_eq!(
            texts(&turns),
            [
                "math processes double(12) from client1",
                "math processes double(33) from client2",
                "math processes getResult() from client1",
            ]
        );
        let in_between = turns[1].1;
        let script = format!(
            "break message-receiver by math\nrun\nnext-turn math\nuniverse {in_between}\nshow math.inbox\nends here\n"
        );
        let said = listing.debug(&script);
        let line = match listing {
            Listing::Rust => 42,
            Listing::AmbientTalk => 18,
        };
        let inbox = format!(r#"- {{name: "double", args: [33], from: "client2", line: {line}}}"#);
        assert!(said.contains(&inbox), "{said}");
        assert_eq!(
            outcomes(&said).iter().collect::<Vec<_>>(),
            ["math.result = 66, prints 66"]
        );
    }
}

#[test]
fn breakpoints_know_methods_and_parties_in_both_languages() {
    for listing in [Listing::Rust, Listing::AmbientTalk] {
        let stops = |breakpoint: &str| {
            let said = listing.debug(&format!("break {breakpoint}\nrun\n"));
            let next = next(&said, "run");
            next.into_iter().map(|(text, _)| text).collect::<Vec<_>>()
        };
        assert_eq!(
            stops("before-turn getResult"),
            ["math processes getResult() from client1"]
        );
        assert_eq!(
            stops("before-turn double to client2"),
            ["math processes double(33) from client2"]
        );
        assert_eq!(
            stops("message-sender double by client1 to math"),
            ["client1 sends double(12) to math"]
        );
        assert_eq!(
            stops("message-sender start to client2"),
            ["main sends start() to client2"]
        );
        assert_eq!(
            stops("before-turn getResult if math.result == 66"),
            ["math processes getResult() from client1"]
        );
    }
}

fn check(script: &str, expected: Expect) {
    let directory = Directory::new();
    let args = ["debug", "--", example("listing1")];
    let run = directory.reenact_reading(&args, script).without_memory();
    expected.assert_eq(&run.stdout);
}

#[test]
fn an_actor_shows_its_inbox_its_turn_and_its_state() {
    check(
        "break before-turn double if length(`main.a0`.inbox) > 1\nrun\nshow `main.a0`\nbreak after-turn double\ndelete 1\nrun\nshow `main.a0`\nbreak message-sender get_result\ndelete 2\nrun\nshow `main.a1`\n",
        expect![[r#"
            > break before-turn double if length(`main.a0`.inbox) > 1
            Breakpoint 1: before-turn double if length(`main.a0`.inbox) > 1

            > run
            13 universes paused at breakpoint 1 (before-turn double if length(`main.a0`.inbox) > 1)
              9 of them [0–4, 6–7, 10, 12] next, main.a0 handles double(12) from main.a1
              4 of them [5, 8–9, 11] next, main.a0 handles double(33) from main.a2
            6 universes ended
              2 of them [13–14] main.a0.result = 66; prints 24
              2 of them [15–16] main.a0.result = 66; prints 66
              2 of them [17–18] main.a0.result = 24; prints 24

            > show `main.a0`
            does: "handles double(12) from main.a1"
            inbox:
              - {name: "double", args: [12], from: "main.a1", line: 29}
              - {name: "get_result", args: [], from: "main.a1", line: 30}
            state:
              result: 0

            > break after-turn double
            Breakpoint 2: after-turn double

            > delete 1
            Removed 1: before-turn double if length(`main.a0`.inbox) > 1

            > run
            35 universes paused at breakpoint 2 (after-turn double)
              9 of them [0–2, 4–5, 7–8, 11–12] main.a0 has nothing to do
              14 of them [3, 6, 9–10, 13–14, 17–18, 21–22, 25–26, 29, …] next, main.a0 handles get_result() from main.a1
              6 of them [15, 19, 23, 27, 30, 33] next, main.a0 handles double(33) from main.a2
              6 of them [16, 20, 24, 28, 31, 34] next, main.a0 handles double(12) from main.a1

            > show `main.a0`
            does: "has nothing to do"
            inbox: []
            state:
              result: 24

            > break message-sender get_result
            Breakpoint 3: message-sender get_result

            > delete 2
            Removed 2: after-turn double

            > run
            9 universes paused at breakpoint 3 (message-sender get_result)
              [0–8] next, main.a1 sends get_result() to main.a0

            > show `main.a1`
            does: "sends get_result() to main.a0"
            line: 30
            turn: "start() from main"
            inbox: []

        "#]],
    );
}

#[test]
fn calls_cannot_be_stepped_over() {
    check(
        "run\nover\nreturn\nstep over\n",
        expect![[r#"
            > run
            6 universes ended
              2 of them [0–1] main.a0.result = 66; prints 24
              2 of them [2–3] main.a0.result = 66; prints 66
              2 of them [4–5] main.a0.result = 24; prints 24

            > over
            error in line 2: over needs calls, which are not tracked in this program, only operations. To go to the next operation, type: into; to stop at a line, type: break line LINE

            > return
            error in line 3: return needs calls, which are not tracked in this program, only operations. To go to the next operation, type: into; to stop at a line, type: break line LINE

            > step over
            error in line 4: over needs calls, which are not tracked in this program, only operations. To go to the next operation, type: into; to stop at a line, type: break line LINE

        "#]],
    );
}
