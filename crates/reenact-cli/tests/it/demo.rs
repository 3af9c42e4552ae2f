use crate::run::Place;

#[test]
fn the_demo_catches_the_bug_replays_it_and_shows_the_order() {
    let place = Place::new();
    let run = place.finish(place.command(&["demo"]).env("TMPDIR", place.path("")));
    assert!(run.status.success(), "{}\n{}", run.stdout, run.stderr);
    assert_eq!(place.files(), [""; 0], "it leaves nothing behind");
    assert!(
        run.stdout
            .contains(" failed: the account is overdrawn: -100\n")
    );
    assert!(
        run.stdout
            .contains("    replay 5 of 5: the account is overdrawn: -100\n")
    );
    // Which of the two asked first differs from run to run; that both asked before either took does not.
    let rows: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.contains('●'))
        .map(|line| {
            let start = line.find('●').unwrap() + '●'.len_utf8();
            line[start..].split("  ").next().unwrap().trim()
        })
        .collect();
    assert_eq!(
        rows,
        [
            "is there enough?",
            "is there enough?",
            "takes the money",
            "takes the money"
        ],
        "{}",
        run.stdout
    );
    assert_eq!(run.stderr, "");
}
