//! Messages on the wire: a header with the length, then JSON.

use std::io::{self, BufRead, Write};

use serde_json::Value;

/// The longest message that is read, in bytes.
const LONGEST: usize = 16 << 20;

/// A message that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FramingError {
    /// The stream failed.
    #[error("the client's messages cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Without a length nothing that follows can be understood.
    #[error("a message without a valid Content-Length header (at most {LONGEST} bytes)")]
    Length,
    /// The message has been skipped; the next one can be read.
    #[error("a message that is no JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The next message, or `None` at the end of the stream.
///
/// # Errors
/// When there is no message where one should be. After [`FramingError::Json`] the stream can be read on.
pub fn read(input: &mut impl BufRead) -> Result<Option<Value>, FramingError> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok().filter(|&length| length <= LONGEST);
        }
    }
    let mut body = vec![0; length.ok_or(FramingError::Length)?];
    input.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}

/// Writes one message.
///
/// # Errors
/// When the stream is gone.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let messages = [json!({"seq": 1}), json!({"text": "ü → 2"})];
        let mut bytes = Vec::new();
        for message in &messages {
            write(&mut bytes, message).unwrap();
        }
        let mut input = bytes.as_slice();
        for message in messages {
            assert_eq!(read(&mut input).unwrap(), Some(message));
        }
        assert_eq!(read(&mut input).unwrap(), None);
    }

    #[test]
    fn after_a_message_that_is_no_json_the_next_is_read() {
        let mut input = "Content-Length: 3\r\n\r\n{]}Content-Length: 2\r\n\r\n{}".as_bytes();
        assert!(matches!(read(&mut input), Err(FramingError::Json(_))));
        assert_eq!(read(&mut input).unwrap(), Some(json!({})));
    }

    #[test]
    fn a_length_is_needed_and_bounded() {
        for header in
            ["X: 3\r\n\r\n{}", "Content-Length: many\r\n\r\n", "Content-Length: 99999999999\r\n\r\n"]
        {
            assert!(matches!(read(&mut header.as_bytes()), Err(FramingError::Length)), "{header}");
        }
    }
}
