//! A client that sends exactly the bytes that a test gives it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    thread,
    time::Duration,
};

/// What takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// One connection.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client {
            stream: BufReader::new(stream),
        }
    }

    /// So many clients at the same time, each on a thread of its own, with its number.
    pub(crate) fn crowd(
        address: SocketAddr,
        count: usize,
        talk: impl Fn(&mut Client, usize) + Sync,
    ) {
        thread::scope(|scope| {
            for number in 0..count {
                let talk = &talk;
                scope.spawn(move || talk(&mut Client::new(address), number));
            }
        });
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Client {
        self.stream.get_mut().write_all(bytes.as_ref()).unwrap();
        self
    }

    /// As [`Client::send`], to a server that may not want to hear all of it.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Client {
        let _ = self.stream.get_mut().write_all(bytes.as_ref());
        self
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"))
            .answer()
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) -> Answer {
        let length = body.len();
        self.send(format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
        .answer()
    }

    pub(crate) fn answer(&mut self) -> Answer {
        let status = self.line();
        let status = status.split(' ').nth(1).expect("a status").parse().unwrap();
        let mut headers = Vec::new();
        loop {
            match self.line() {
                end if end.is_empty() => break,
                header => headers.push(header),
            }
        }
        let length = headers
            .iter()
            .find_map(|header| header.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        self.stream.read_exact(&mut body).unwrap();
        Answer {
            status,
            headers,
            body: String::from_utf8(body).unwrap(),
        }
    }

    /// Says that nothing more comes, and goes.
    pub(crate) fn leave(self) {
        let _ = self.stream.get_ref().shutdown(Shutdown::Both);
    }

    /// Whether the server has closed the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0) | Err(_))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}
