//! Clients of the flight booking service, many at a time, and how long they waited.
//!
//! Every client plays one [round] after the other over a connection that it keeps. In a *closed* loop it sends the next
//! request as soon as it has the response to the last: that shows how much the service can do. In an *open* loop requests
//! are due at times that nothing can move, so many per second over all clients; how long one took counts from when it was
//! due, so that a service that falls behind does not get away with it.

#![forbid(unsafe_code)]

mod client;
mod latencies;
mod round;

use std::{
    net::SocketAddr,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use clap::Parser;

use self::{client::Client, latencies::Latencies, round::Visitor};

/// Plays customers of acme-air, and prints how long they waited as one line of JSON.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Where the service listens.
    address: SocketAddr,
    /// How many clients there are at a time.
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// For how long.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Requests per second of all clients together; without it, as many as the service answers.
    #[arg(long)]
    rate: Option<f64>,
    /// The beginning is not counted: so many seconds of it.
    #[arg(long, default_value_t = 0.0)]
    warm_up: f64,
    /// What the clients' choices depend on.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many customers the service has.
    #[arg(long, default_value_t = 200)]
    customers: u32,
    /// Stop the service afterwards.
    #[arg(long)]
    stop: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let start = Barrier::new(arguments.clients);
    let mut latencies = Latencies::default();
    thread::scope(|scope| {
        let clients: Vec<_> = (0..arguments.clients)
            .map(|number| {
                let (arguments, start) = (&arguments, &start);
                scope.spawn(move || run(arguments, number, start))
            })
            .collect();
        for client in clients {
            latencies.add(client.join().expect("a client does not panic"));
        }
    });
    println!("{}", serde_json::to_string(&latencies.summary())?);
    if arguments.stop {
        Client::new(arguments.address).post("/shutdown", None, "", "")?;
    }
    Ok(())
}

/// One client, from the first round to the end of the time.
fn run(arguments: &Arguments, number: usize, start: &Barrier) -> Latencies {
    let mut visitor = Visitor::new(number, arguments.seed, arguments.customers);
    let mut client = Client::new(arguments.address);
    let mut latencies = Latencies::default();
    let mut sent = 0;
    start.wait();
    let begin = Instant::now();
    let warm = begin + Duration::from_secs_f64(arguments.warm_up);
    let end = warm + Duration::from_secs_f64(arguments.seconds);
    let mut schedule = arguments.rate.map(|rate| {
        let every = Duration::from_secs_f64(arguments.clients as f64 / rate);
        // Not all of them at the same time.
        let first = begin + every.mul_f64(number as f64 / arguments.clients as f64);
        (first, every)
    });
    loop {
        let due = match &mut schedule {
            None => Instant::now(),
            Some((next, every)) => {
                let due = *next;
                *next += *every;
                thread::sleep(due.saturating_duration_since(Instant::now()));
                due
            }
        };
        if due >= end {
            break;
        }
        sent += 1;
        let (kind, response) = visitor.send_next(&mut client);
        let took = due.elapsed();
        let is_fine = response.is_ok_and(|response| visitor.learn(kind, response));
        if due >= warm {
            latencies.one(kind, took, is_fine);
        }
    }
    latencies.over(arguments.seconds, sent, visitor.digest());
    latencies
}
