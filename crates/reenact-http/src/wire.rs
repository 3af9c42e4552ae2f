//! The encoding of requests in a trace.

use std::{io, net::SocketAddr, str};

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

/// The first line of a request, as far as the program sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestLine {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
}

impl RequestLine {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        use std::io::Write;

        let mut bytes = Vec::with_capacity(128);
        write!(bytes, "{self}").expect("there is always room");
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<RequestLine> {
        let (method, uri) = str::from_utf8(bytes).ok()?.split_once(' ')?;
        Some(RequestLine {
            method: method.parse().ok()?,
            uri: uri.parse().ok()?,
        })
    }
}

impl std::fmt::Display for RequestLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.uri)
    }
}

/// Encodes names and values, each preceded by its length.
pub(crate) fn headers_to_bytes(headers: &HeaderMap) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in headers {
        for part in [name.as_str().as_bytes(), value.as_bytes()] {
            let length = u32::try_from(part.len()).expect("a server limits the size of headers");
            bytes.extend(length.to_le_bytes());
            bytes.extend(part);
        }
    }
    bytes
}

pub(crate) fn headers_from_bytes(mut bytes: &[u8]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    while !bytes.is_empty() {
        let name = HeaderName::from_bytes(part(&mut bytes)?).ok()?;
        let value = HeaderValue::from_bytes(part(&mut bytes)?).ok()?;
        headers.try_append(name, value).ok()?;
    }
    Some(headers)
}

fn part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (part, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

/// Encodes an address, or the error: by the system's error code if it has one.
pub(crate) fn address_to_bytes(address: &io::Result<SocketAddr>) -> Vec<u8> {
    match address {
        Ok(address) => format!("at {address}").into_bytes(),
        Err(error) => match error.raw_os_error() {
            Some(number) => format!("os {number}").into_bytes(),
            None => format!("no {error}").into_bytes(),
        },
    }
}

pub(crate) fn address_from_bytes(bytes: &[u8]) -> Option<io::Result<SocketAddr>> {
    let (kind, rest) = str::from_utf8(bytes).ok()?.split_once(' ')?;
    Some(match kind {
        "at" => Ok(rest.parse().ok()?),
        "os" => Err(io::Error::from_raw_os_error(rest.parse().ok()?)),
        "no" => Err(io::Error::other(rest.to_owned())),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_back() {
        for text in [
            "GET /",
            "POST /rest/api?from=A%20B&to=C",
            "OPTIONS *",
            "CONNECT example.com:443",
            "GET http://example.com/there",
        ] {
            let line = RequestLine::from_bytes(text.as_bytes()).unwrap();
            assert_eq!(line.to_bytes(), text.as_bytes());
        }
        assert_eq!(RequestLine::from_bytes(b"GET"), None);
        assert_eq!(RequestLine::from_bytes(b"GET \xff"), None);
    }

    #[test]
    fn headers_come_back_in_their_order_and_damaged_ones_do_not() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("a", "1"), ("b", ""), ("a", "2")] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let bytes = headers_to_bytes(&headers);
        assert_eq!(headers_from_bytes(&bytes), Some(headers));
        for length in 1..bytes.len() {
            let cut = headers_from_bytes(&bytes[..length]);
            assert!(cut.is_none_or(|headers| headers.len() < 3));
        }
        assert_eq!(headers_from_bytes(&[0xff; 20]), None);
    }

    #[test]
    fn an_address_comes_back_and_so_does_an_error() {
        let back = |address| address_from_bytes(&address_to_bytes(&address)).unwrap();
        let address = "127.0.0.1:80".parse().unwrap();
        assert_eq!(back(Ok(address)).unwrap(), address);
        let in_use = io::Error::from_raw_os_error(98);
        assert_eq!(back(Err(in_use)).unwrap_err().raw_os_error(), Some(98));
        let other = io::Error::other("no such host");
        assert_eq!(back(Err(other)).unwrap_err().to_string(), "no such host");
    }
}
