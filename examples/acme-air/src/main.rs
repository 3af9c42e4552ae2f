//! The flight booking service of a fictional airline: the web application that the papers measure.
//!
//! Handlers are threads, except that sessions are an actor of its own, which also answers who logs out. Customers, flights and
//! bookings are in an embedded database, of which every answer is recorded, so that a replay does not need its file. Seats
//! that are taken are counted in memory. `POST /shutdown` ends it, and it says what it has come to.

#![forbid(unsafe_code)]

mod data;
mod database;
mod service;
mod sessions;

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc};

use clap::Parser;
use reenact::{actor::spawn, csp, sync::mpsc, thread};
use reenact_http::{Request, Server};

use self::{
    database::Database,
    service::Service,
    sessions::{Sessions, SessionsSends},
};

/// Books flights, over HTTP.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Where to listen; port 0 is any that is free.
    #[arg(long, default_value = "127.0.0.1:0")]
    address: SocketAddr,
    /// The file of the database. It is made and filled if it is not there.
    #[arg(long)]
    database: PathBuf,
    /// Wait for the disk before a booking is confirmed, rather than at the end.
    #[arg(long)]
    durable: bool,
    /// How many threads handle requests.
    #[arg(long, default_value_t = 4)]
    handlers: usize,
    /// How many customers a new database has.
    #[arg(long, default_value_t = 200)]
    customers: u32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let database = Database::open(&arguments.database, arguments.durable, arguments.customers)?;
    let sessions = spawn(Sessions::default());
    let (stop, stopped) = mpsc::channel();
    let service = Arc::new(Service::new(database, sessions.clone(), stop));

    let (sender, requests) = csp::unbounded::<Request>();
    let handlers = (0..arguments.handlers)
        .map(|number| handler(number, requests.clone(), Arc::clone(&service)))
        .collect::<io::Result<Vec<_>>>()?;
    drop(requests);

    let server = Server::bind(arguments.address)?;
    println!("acme-air listens on {}", server.local_addr());
    let leaving = sessions.clone();
    let serving = server.deliver(move |request| match request.path() {
        "/rest/api/login/logout" => leaving.log_out(request),
        _ => {
            // Handlers are there as long as requests come.
            let _ = sender.send(request);
        }
    });

    stopped.recv()?;
    serving.stop();
    for handler in handlers {
        handler.join().expect("a handler does not panic");
    }
    println!("{}", service.summary()?);
    println!("{}", sessions.summary().wait()?);
    Ok(())
}

fn handler(
    number: usize,
    requests: csp::Receiver<Request>,
    service: Arc<Service>,
) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new()
        .name(format!("handler-{number}"))
        .spawn(move || {
            for request in requests {
                let response = service.answer(&request);
                request.respond(response);
            }
        })
}
