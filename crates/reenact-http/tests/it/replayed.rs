//! The oracle: a replay without clients and without a network does what the recording did.

use std::net::TcpListener;

use crate::{
    client::Client,
    stage::{SHAPES, Stage},
};

#[test]
fn a_replay_needs_no_clients_and_no_network() {
    for shape in SHAPES {
        let stage = Stage::new(shape);
        let service = stage.record();
        let address = service.address();
        Client::crowd(address, 16, |client, number| {
            for round in 0..10 {
                client.post("/echo", &format!("{number} in {round}"));
                client.get("/count");
                client.get("/header?host");
                client.get("/peer");
            }
        });
        let recorded = service.stop().fine();
        assert_eq!(recorded.stdout.lines().count(), 1 + 16 * 40 + 1);
        // Somebody else has the port now.
        let _taken = TcpListener::bind(address).unwrap();
        for _ in 0..3 {
            stage.replay().is_same_as(&recorded);
        }
    }
}

#[test]
fn senders_may_record_instead() {
    for shape in SHAPES {
        let stage = Stage::new(shape).env("REENACT_STRATEGY", "sender");
        let service = stage.record();
        let address = service.address();
        Client::crowd(address, 8, |client, _| {
            (0..20).for_each(|_| assert_eq!(client.get("/count").status, 200));
        });
        let recorded = service.stop().fine();
        stage.replay().is_same_as(&recorded);
    }
}

/// More than there is room for without saying so.
#[test]
fn many_requests_may_be_without_a_response() {
    const MANY: usize = 300;
    let stage = Stage::new("processes");
    let service = stage.record();
    let mut clients: Vec<_> = (0..MANY).map(|_| service.client()).collect();
    for client in &mut clients {
        client.send("POST /length HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    }
    // All of them are there: each was handed on before these were answered.
    let mut last = service.client();
    for client in &mut clients {
        assert_eq!(last.get("/count").status, 200);
        client.send("1\r\nx\r\n0\r\n\r\n");
        assert_eq!(client.answer().body, "1 of 1");
    }
    let recorded = service.stop().fine();
    for _ in 0..3 {
        stage.replay().is_same_as(&recorded);
    }
}

#[test]
fn panics_and_dropped_requests_are_replayed() {
    for (shape, path) in [("threads", "/panic"), ("actor", "/drop")] {
        let (stage, service, mut client) = Stage::recorded(shape);
        for _ in 0..5 {
            assert_eq!(client.get(path).status, 500);
            assert_eq!(client.get("/count").status, 200);
        }
        let recorded = service.stop();
        assert!(recorded.status.success(), "{recorded:#?}");
        stage.replay().is_same_as(&recorded);
    }
}

#[test]
fn a_handler_may_end_the_process() {
    for shape in SHAPES {
        let (stage, service, mut client) = Stage::recorded(shape);
        assert_eq!(client.get("/count").status, 200);
        client.send("GET /exit HTTP/1.1\r\nhost: x\r\n\r\n");
        let recorded = service.end();
        assert_eq!(recorded.status.code(), Some(3), "{recorded:#?}");
        stage.replay().is_same_as(&recorded);
    }
}

#[test]
fn a_server_that_stops_does_not_wait_for_ever() {
    for shape in ["threads 1", "processes 1"] {
        let (stage, service, mut client) = Stage::recorded(shape);
        client.send(
            "POST /length HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 70000\r\n\r\n",
        );
        // Which it says when the handler waits for it.
        assert_eq!(client.answer().status, 100);
        let recorded = service.stop().fine();
        let given_up = "POST /length: 400 Bad Request";
        assert!(recorded.stdout.contains(given_up), "{recorded:#?}");
        stage.replay().is_same_as(&recorded);
    }
}

#[test]
fn a_response_that_differs_is_reported() {
    let mut stage = Stage::new("threads").env("MOOD", "good");
    let service = stage.record();
    assert_eq!(service.client().get("/mood").body, "good");
    let recorded = service.stop().fine();
    stage.replay().is_same_as(&recorded);
    stage.set("MOOD", "well");
    let replayed = stage.replay();
    let report = replayed.diverged();
    assert!(report.contains("response to GET /mood"), "{report}");
}

#[test]
fn a_service_that_is_killed_is_replayed_up_to_there() {
    for shape in SHAPES {
        let (stage, service, mut client) = Stage::recorded(shape);
        for count in 0..50 {
            assert_eq!(client.get("/count").body, count.to_string());
        }
        service.kill();
        stage.recovered();
        let replayed = stage.replay();
        assert!(replayed.status.success(), "{replayed:#?}");
        let report = replayed.report.as_deref().expect("it says where it ends");
        assert!(report.starts_with("ended\n"), "{report}");
        assert!(replayed.stdout.starts_with("listening on"), "{replayed:#?}");
    }
}
