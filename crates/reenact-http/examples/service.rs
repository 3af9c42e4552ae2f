//! A service for the tests: says where it listens, answers until it gets a stop request, and says what it has done.
//!
//! ```text
//! $ service threads        # handled by threads of the program
//! $ service actor          # by one actor
//! $ service processes      # by light processes
//! $ service threads 1      # waits for so many seconds at its end for what is under way; otherwise 30
//! ```

use std::{
    io::{self, Write},
    num::NonZeroUsize,
    sync::Arc,
    time::Duration,
};

use reenact::{
    actor::spawn,
    csp,
    sync::{Mutex, mpsc},
};
use reenact_http::{Bytes, Request, Response, Server, StatusCode};

/// The longest body.
const MAX_BODY: usize = 1 << 20;

struct Service {
    /// What was answered to what, in the order in which that happened.
    log: Mutex<Vec<String>>,
    stop: Mutex<Option<mpsc::Sender<()>>>,
}

impl Service {
    fn answer(&self, request: &Request) -> Response<Bytes> {
        let (status, body) = match self.look_up(request) {
            Ok(body) => (StatusCode::OK, body),
            Err(why) => (StatusCode::BAD_REQUEST, why.into()),
        };
        let (method, uri) = (request.method(), request.uri());
        let mut log = self.log.lock().unwrap();
        log.push(format!("{method} {uri}: {status}, {} bytes", body.len()));
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let number = log.len().into();
        response.headers_mut().insert("x-number", number);
        response
    }

    fn look_up(&self, request: &Request) -> Result<Bytes, String> {
        let body = || request.body().map_err(|error| error.to_string());
        let text = |text: String| Ok(text.into());
        match request.path() {
            "/count" => text(self.log.lock().unwrap().len().to_string()),
            "/echo" => body(),
            "/length" => text(format!("{} of {}", body()?.len(), body()?.len())),
            "/ignore" => text("not read".to_owned()),
            "/header" => {
                let name = request.query().ok_or("which header?")?;
                let value = request.header(name);
                assert_eq!(
                    value,
                    request.header(name),
                    "what is read twice is the same"
                );
                text(format!("{value:?}"))
            }
            "/headers" => text(format!("{:?}", request.headers())),
            "/peer" => text(format!("{}", request.peer_addr() == request.peer_addr())),
            "/mood" => text(std::env::var("MOOD").unwrap_or_default()),
            "/panic" => panic!("on purpose"),
            "/exit" => std::process::exit(3),
            "/stop" => {
                let stop = self.stop.lock().unwrap().take();
                stop.ok_or("stopping already")?.send(()).unwrap();
                text("stopping".to_owned())
            }
            _ => Err("no such path".to_owned()),
        }
    }
}

struct Desk(Arc<Service>);

#[reenact::actor]
impl Desk {
    pub(crate) fn handle(&mut self, request: Request) {
        if request.path() != "/drop" {
            let response = self.0.answer(&request);
            request.respond(response);
        }
    }
}

fn main() -> io::Result<()> {
    let (stop, stopped) = mpsc::channel();
    let service = Arc::new(Service {
        log: Mutex::new(Vec::new()),
        stop: Mutex::new(Some(stop)),
    });
    let mut arguments = std::env::args().skip(1);
    let shape = arguments.next();
    let grace = arguments.next().map_or(30, |grace| grace.parse().unwrap());
    let server = Server::builder()
        .max_body(MAX_BODY)
        .workers(NonZeroUsize::new(2).unwrap())
        .grace(Duration::from_secs(grace))
        .bind("127.0.0.1:0")?;
    println!("listening on {}", server.local_addr());
    io::stdout().flush()?;

    let handlers = Arc::clone(&service);
    let serving = match shape.as_deref() {
        Some("threads") => server.threads(3, move |request| handlers.answer(request))?,
        Some("actor") => {
            let desk = spawn(Desk(handlers));
            server.deliver(move |request| desk.handle(request))
        }
        Some("processes") => {
            let (sender, requests) = csp::unbounded::<Request>();
            csp::spawn(move || {
                for request in requests {
                    let service = Arc::clone(&handlers);
                    csp::spawn(move || {
                        let response = service.answer(&request);
                        request.respond(response);
                    });
                }
            });
            server.deliver(move |request| sender.send(request).unwrap())
        }
        _ => return Err(io::Error::other("threads, actor or processes?")),
    };
    stopped.recv().unwrap();
    serving.stop();
    for line in &*service.log.lock().unwrap() {
        println!("{line}");
    }
    Ok(())
}
