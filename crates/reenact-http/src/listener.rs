//! Connections and the threads that serve them. They are not part of the program.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use reenact_engine::stay_untracked;
use tokio::{
    net::TcpListener,
    runtime::{self, Runtime},
    sync::{oneshot, watch},
    task::JoinSet,
};

use crate::{body::IncomingBody, request::Exchange, server::Builder, wire::RequestLine};

/// How long a client may take to send the headers of a request.
const PATIENCE_FOR_HEADERS: Duration = Duration::from_secs(30);
/// How long to wait after a failed accept, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(20);

/// Takes incoming requests.
pub(crate) trait Inlet: Send + Sync + 'static {
    /// A request has arrived.
    fn request(&self, line: RequestLine, exchange: Exchange);
    /// No more requests arrive.
    fn end(&self);
}

/// A listener and the threads that will serve it.
pub(crate) struct HttpListener {
    listener: std::net::TcpListener,
    runtime: Runtime,
    builder: Builder,
}

/// A listener that is being served.
pub(crate) struct Running {
    runtime: Option<Runtime>,
    stop: watch::Sender<bool>,
}

impl HttpListener {
    pub(crate) fn new(
        listener: std::net::TcpListener,
        builder: &Builder,
    ) -> io::Result<(HttpListener, SocketAddr)> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let workers = match builder.workers {
            Some(workers) => workers.get(),
            None => std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2)),
        };
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .thread_name("reenact-http")
            .on_thread_start(stay_untracked)
            .enable_all()
            .build()?;
        let listening = HttpListener {
            listener,
            runtime,
            builder: builder.clone(),
        };
        Ok((listening, address))
    }

    /// Serves connections from now on.
    pub(crate) fn serve(self, inlet: Arc<impl Inlet>) -> Running {
        let (stop, stopping) = watch::channel(false);
        let HttpListener {
            listener,
            runtime,
            builder,
        } = self;
        runtime.spawn(async move {
            if let Ok(listener) = TcpListener::from_std(listener) {
                serve(listener, &builder, &inlet, stopping).await;
            }
            inlet.end();
        });
        Running {
            runtime: Some(runtime),
            stop,
        }
    }
}

impl Running {
    /// Accepts no more connections; requests in progress are finished.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn serve<I: Inlet>(
    listener: TcpListener,
    builder: &Builder,
    inlet: &Arc<I>,
    mut stopping: watch::Receiver<bool>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(PATIENCE_FOR_HEADERS)
        .max_buf_size(builder.max_headers);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stopping.changed() => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept(), if connections.len() < builder.max_connections => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Responses are written in one piece; without this they would wait for the client's acknowledgements.
        let _ = stream.set_nodelay(true);
        let (inlet, limits) = (Arc::clone(inlet), (builder.max_headers, builder.max_body));
        let answer = service_fn(move |request| answer(Arc::clone(&inlet), limits, peer, request));
        let connection = http.serve_connection(TokioIo::new(stream), answer);
        // Errors of a connection concern only its client.
        connections.spawn(graceful.watch(connection));
    }
    drop(listener);
    let _ = tokio::time::timeout(builder.grace, graceful.shutdown()).await;
    connections.shutdown().await;
}

/// Passes a request to the program, and returns the program's response.
async fn answer<I: Inlet>(
    inlet: Arc<I>,
    (max_headers, limit): (usize, usize),
    peer: SocketAddr,
    request: http::Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, incoming) = request.into_parts();
    // hyper limits its buffer, which may hold more by the time that it checks.
    if length_of_headers(&parts) > max_headers {
        return Ok(bare(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
    }
    if IncomingBody::is_longer(&incoming, limit) {
        return Ok(bare(StatusCode::PAYLOAD_TOO_LARGE));
    }
    let body = IncomingBody::of(incoming, limit).await;
    let line = RequestLine {
        method: parts.method,
        uri: parts.uri,
    };
    let (reply, response) = oneshot::channel();
    inlet.request(
        line,
        Exchange {
            headers: parts.headers,
            body: Some(body).into(),
            peer,
            reply,
        },
    );
    let response = response.await;
    Ok(response.unwrap_or_else(|_| bare(StatusCode::INTERNAL_SERVER_ERROR)))
}

fn length_of_headers(parts: &http::request::Parts) -> usize {
    let uri = parts
        .uri
        .path_and_query()
        .map_or(0, |target| target.as_str().len());
    let headers = parts.headers.iter();
    uri + headers
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum::<usize>()
}

fn bare(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}
