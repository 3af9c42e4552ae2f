//! Bodies: in one piece, in chunks, late, cut off, too long.

use crate::stage::{SHAPES, Stage};

/// More than is collected before the program hears of the request.
const LONG: usize = 100_000;

#[test]
fn a_body_comes_in_chunks_and_with_pauses() {
    for shape in SHAPES {
        let service = Stage::new(shape).start();
        let mut client = service.client();
        client.send("POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
        client.send("5\r\nhello\r\n");
        // The handler waits for the rest. Others are served, but for those of the one actor.
        if shape != "actor" {
            assert_eq!(service.client().get("/count").status, 200);
        }
        client.send("7\r\n, world\r\n0\r\n\r\n");
        assert_eq!(client.answer().body, "hello, world");
        assert_eq!(client.post("/echo", "again").body, "again");
        service.stop().fine();
    }
}

#[test]
fn a_handler_that_waits_for_a_body_keeps_only_itself() {
    for shape in ["threads", "processes"] {
        // More wait than there are cores; threads are three, of which one is left.
        let service = Stage::new(shape).env("REENACT_WORKERS", "1").start();
        let mut slow = [service.client(), service.client()];
        for client in &mut slow {
            let expect = "expect: 100-continue";
            let head = format!(
                "POST /length HTTP/1.1\r\nhost: x\r\n{expect}\r\ncontent-length: {LONG}\r\n\r\n"
            );
            // Which it says when the handler waits for it.
            assert_eq!(client.send(head).answer().status, 100);
        }
        assert_eq!(service.client().get("/count").status, 200);
        for client in &mut slow {
            client.send("x".repeat(LONG));
            assert_eq!(client.answer().body, format!("{LONG} of {LONG}"));
        }
        service.stop().fine();
    }
}

#[test]
fn a_client_that_goes_in_the_midst_of_a_body_is_an_error_of_the_body() {
    for shape in SHAPES {
        let (stage, service, mut client) = Stage::recorded(shape);
        client.send("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 70000\r\n\r\nnot all");
        client.leave();
        // Until it has been handled: something else than these was counted, too.
        let mut client = service.client();
        (0..).find(|asked: &u32| client.get("/count").body != asked.to_string());
        client
            .send("POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\n");
        assert_eq!(client.answer().status, 400);
        let recorded = service.stop().fine();
        let errors = "POST /echo: 400 Bad Request";
        assert_eq!(recorded.stdout.matches(errors).count(), 2, "{recorded:#?}");
        stage.replay().is_same_as(&recorded);
    }
}

#[test]
fn a_body_that_says_it_is_too_long_is_refused_and_one_that_is_an_error() {
    let (stage, service, mut client) = Stage::recorded("threads");
    client.send("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 2000000\r\n\r\n");
    assert_eq!(client.answer().status, 413);

    let mut client = service.client();
    client.send("POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    let chunk = format!("{:x}\r\n{}\r\n", LONG, "x".repeat(LONG));
    (0..15).for_each(|_| {
        client.try_send(&chunk);
    });
    let recorded = service.stop().fine();
    assert!(
        recorded
            .stdout
            .contains("POST /echo: 400 Bad Request, 41 bytes"),
        "{recorded:#?}"
    );
    assert_eq!(recorded.stdout.lines().count(), 3);
    stage.replay().is_same_as(&recorded);
}

#[test]
fn only_a_body_that_is_read_is_in_the_trace() {
    for shape in SHAPES {
        let (stage, service, mut client) = Stage::recorded(shape);
        assert_eq!(client.post("/ignore", "nobody-reads-this").body, "not read");
        let long = "nobody-reads-this-either".repeat(4_000);
        assert_eq!(client.post("/ignore", &long).body, "not read");
        let mut client = service.client();
        assert_eq!(
            client.post("/length", "somebody-reads-this").body,
            "19 of 19"
        );
        let recorded = service.stop().fine();
        assert!(!stage.trace_has("nobody-reads-this"));
        assert!(stage.trace_has("somebody-reads-this"));
        stage.replay().is_same_as(&recorded);
    }
}
