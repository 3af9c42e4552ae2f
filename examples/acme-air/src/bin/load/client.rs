//! HTTP as a client needs it here: one request at a time, over a connection that is kept.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// A service that takes longer than this does not answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// One client.
pub(crate) struct Client {
    address: SocketAddr,
    /// None before the first request, and after a failure.
    connection: Option<BufReader<TcpStream>>,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The first part of the cookie that came with it.
    pub(crate) cookie: Option<String>,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Client {
        Client {
            address,
            connection: None,
        }
    }

    pub(crate) fn get(&mut self, path: &str, cookie: Option<&str>) -> io::Result<Answer> {
        self.exchange(&format!("GET {path} HTTP/1.1\r\n"), cookie, "", "")
    }

    pub(crate) fn post(
        &mut self,
        path: &str,
        cookie: Option<&str>,
        kind: &str,
        body: &str,
    ) -> io::Result<Answer> {
        let length = body.len();
        let kind = format!("content-type: {kind}\r\ncontent-length: {length}\r\n");
        self.exchange(&format!("POST {path} HTTP/1.1\r\n"), cookie, &kind, body)
    }

    fn exchange(
        &mut self,
        line: &str,
        cookie: Option<&str>,
        headers: &str,
        body: &str,
    ) -> io::Result<Answer> {
        let host = self.address;
        let cookie = cookie.map_or_else(String::new, |cookie| format!("cookie: {cookie}\r\n"));
        // What a browser sends, and a service does not read.
        let usual = "user-agent: acme-air-load\r\naccept: application/json, text/plain, */*\r\n\
                     accept-language: en\r\ncache-control: no-cache\r\n";
        let request = format!("{line}host: {host}\r\n{usual}{cookie}{headers}\r\n{body}");
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => connect(self.address)?,
        };
        connection.get_mut().write_all(request.as_bytes())?;
        let answer = read(&mut connection)?;
        self.connection = Some(connection);
        Ok(answer)
    }
}

fn connect(address: SocketAddr) -> io::Result<BufReader<TcpStream>> {
    let connection = TcpStream::connect(address)?;
    connection.set_nodelay(true)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    Ok(BufReader::new(connection))
}

fn read(connection: &mut BufReader<TcpStream>) -> io::Result<Answer> {
    let malformed = || io::Error::from(io::ErrorKind::InvalidData);
    let mut line = String::new();
    connection.read_line(&mut line)?;
    let status = line.split(' ').nth(1).ok_or_else(malformed)?;
    let status = status.parse().map_err(|_| malformed())?;
    let (mut length, mut cookie) = (0, None);
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        match name {
            "content-length" => length = value.parse().map_err(|_| malformed())?,
            "set-cookie" => cookie = value.split(';').next().map(str::to_owned),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    Ok(Answer {
        status,
        cookie,
        body: String::from_utf8(body).map_err(|_| malformed())?,
    })
}
