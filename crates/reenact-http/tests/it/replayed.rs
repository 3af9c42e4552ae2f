//! The oracle: a replay without clients and without a network does what the recording did.

use std::{net::TcpListener, thread};

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
        let clients: Vec<_> = (0..16)
            .map(|number| {
                thread::spawn(move || {
                    let mut client = Client::new(address);
                    for round in 0..10 {
                        client.post("/echo", &format!("{number} in {round}"));
                        client.get("/count");
                        client.get("/header?host");
                        client.get("/peer");
                    }
                })
            })
            .collect();
        clients
            .into_iter()
            .for_each(|client| client.join().unwrap());
        let recorded = service.stop().is_fine();
        assert_eq!(recorded.stdout.lines().count(), 1 + 16 * 40 + 1);
        // Somebody else has the port now.
        let _taken = TcpListener::bind(address).unwrap();
        for _ in 0..3 {
            stage.replay().is_same_as(&recorded);
        }
    }
}

#[test]
fn a_response_that_differs_is_reported() {
    let mut stage = Stage::new("threads").env("MOOD", "good");
    let service = stage.record();
    assert_eq!(service.client().get("/mood").body, "good");
    let recorded = service.stop().is_fine();
    stage.replay().is_same_as(&recorded);
    stage.set("MOOD", "well");
    let replayed = stage.replay();
    let report = replayed.diverged();
    assert!(report.contains("response to GET /mood"), "{report}");
}

#[test]
fn a_service_that_is_killed_is_replayed_up_to_there() {
    for shape in SHAPES {
        let stage = Stage::new(shape);
        let service = stage.record();
        let mut client = service.client();
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
