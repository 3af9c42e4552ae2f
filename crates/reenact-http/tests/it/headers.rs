//! Headers: recorded if they are read, kept out if that is asked for.

use crate::stage::{Outcome, Stage};

const HEADERS: &str = "host: x\r\nauthorization: Bearer hunter2\r\nx-color: teal\r\n";

/// Asks for this, with some headers.
fn ask(stage: &Stage, paths: &[&str]) -> Outcome {
    let service = stage.record();
    let mut client = service.client();
    for path in paths {
        let answer = client
            .send(format!("GET {path} HTTP/1.1\r\n{HEADERS}\r\n"))
            .answer();
        assert_eq!(answer.status, 200);
    }
    service.stop().fine()
}

#[test]
fn only_a_header_that_is_read_is_in_the_trace() {
    let stage = Stage::new("threads");
    let recorded = ask(&stage, &["/header?x-color", "/header?x-none", "/count"]);
    assert!(stage.trace_has("teal"));
    assert!(!stage.trace_has("hunter2"));
    stage.replay().is_same_as(&recorded);
}

#[test]
fn all_headers_are_in_the_trace_where_all_are_read() {
    let stage = Stage::new("actor");
    let recorded = ask(&stage, &["/headers"]);
    assert!(stage.trace_has("teal") && stage.trace_has("hunter2"));
    stage.replay().is_same_as(&recorded);
}

#[test]
fn a_header_that_is_withheld_is_read_but_not_recorded() {
    for path in ["/header?authorization", "/headers"] {
        let stage = Stage::new("threads").env("REENACT_REDACT", "header:Authorization");
        ask(&stage, &["/header?x-color", path]);
        assert!(stage.trace_has("teal"));
        assert!(!stage.trace_has("hunter2"));
        let replayed = stage.replay();
        let report = replayed.diverged();
        assert!(report.contains("was kept out of the trace"), "{report}");
        assert!(report.contains(&format!("of GET {path}")), "{report}");
        assert!(report.contains("header:Authorization"), "{report}");
    }
}
