//! Messages between the processes of an exploration: values in postcard, preceded by their length.

use std::io::{self, ErrorKind, Read, Write};

use serde::{Serialize, de::DeserializeOwned};

/// Maximum length of a message.
const MAX_LENGTH: u32 = 64 << 20;
/// Maximum number of bytes that are reserved for a message before they have arrived.
const RESERVED: u32 = 64 << 10;

/// Sends a message.
pub fn send(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_extend(message, vec![0; 4]);
    let mut bytes = bytes.map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len() - 4).ok();
    let length = length.filter(|length| *length <= MAX_LENGTH);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    stream.write_all(&bytes)
}

/// Receives a message. If its bytes are not such a value, the error is of kind [`ErrorKind::InvalidInput`], and the next
/// message can be received.
pub fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MAX_LENGTH {
        let error = "the message is too long";
        return Err(io::Error::new(ErrorKind::InvalidData, error));
    }
    let mut bytes = Vec::with_capacity(length.min(RESERVED) as usize);
    stream.take(length.into()).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    postcard::from_bytes(&bytes).map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))
}
