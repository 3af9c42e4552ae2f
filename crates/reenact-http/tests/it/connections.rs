//! Connections: many, kept, broken, refused.

use crate::{
    client::Client,
    stage::{SHAPES, Stage},
};

#[test]
fn a_connection_takes_several_requests_and_the_service_ends_on_request() {
    for shape in SHAPES {
        let service = Stage::new(shape).start();
        let mut client = service.client();
        for count in 0..10 {
            assert_eq!(client.get("/count").body, count.to_string());
        }
        let outcome = service.stop().fine();
        assert_eq!(outcome.stdout.lines().count(), 1 + 10 + 1);
        assert!(client.is_closed());
    }
}

#[test]
fn clients_are_served_at_the_same_time() {
    for shape in SHAPES {
        let service = Stage::new(shape).start();
        let address = service.address();
        Client::crowd(address, 40, |client, number| {
            for round in 0..20 {
                let body = format!("{number} in {round}");
                assert_eq!(client.post("/echo", &body).body, body);
            }
        });
        let outcome = service.stop().fine();
        assert_eq!(outcome.stdout.lines().count(), 1 + 40 * 20 + 1);
    }
}

#[test]
fn what_is_no_http_does_not_bother_the_program() {
    let service = Stage::new("threads").start();
    let mut client = service.client();
    assert_eq!(client.send("what is this\r\n\r\n").answer().status, 400);
    assert!(client.is_closed());
    let mut client = service.client();
    let long = "x".repeat(100_000);
    client.try_send(format!("GET /count HTTP/1.1\r\nlong: {long}\r\n\r\n"));
    assert_eq!(client.answer().status, 431);
    assert_eq!(service.client().get("/count").body, "0");
    service.stop().fine();
}

#[test]
fn a_handler_that_panics_and_a_request_that_is_dropped_are_answered_all_the_same() {
    let service = Stage::new("threads").start();
    let mut client = service.client();
    for _ in 0..5 {
        assert_eq!(client.get("/panic").status, 500);
    }
    assert_eq!(client.get("/count").body, "0");
    assert!(service.stop().status.success());

    let service = Stage::new("actor").start();
    let mut client = service.client();
    assert_eq!(client.get("/drop").status, 500);
    assert_eq!(client.get("/count").body, "0");
    service.stop().fine();
}

#[test]
fn responses_say_what_the_program_says() {
    let service = Stage::new("threads").start();
    let mut client = service.client();
    let answer = client.get("/nowhere");
    assert_eq!((answer.status, answer.body.as_str()), (400, "no such path"));
    assert!(
        answer.headers.contains(&"x-number: 1".to_owned()),
        "{answer:?}"
    );
    assert_eq!(client.get("/peer").body, "true");
    service.stop().fine();
}
