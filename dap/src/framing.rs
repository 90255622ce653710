//! Messages on the wire: a header with the length, then JSON.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// The longest message that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// The longest line of a header, in bytes.
const LONGEST_LINE: u64 = 8 << 10;

/// A message that cannot be read. Except after [`FramingError::Io`] the next one can.
#[derive(Debug, thiserror::Error)]
pub enum FramingError {
    /// The stream failed.
    #[error("the client's messages cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A header without a length: the text after it is looked through for the next one.
    #[error("a message without a valid Content-Length header")]
    Length,
    /// The message has been skipped.
    #[error("a message of {0} bytes, which is more than {LONGEST}")]
    TooLong(u64),
    /// The message has been skipped.
    #[error("a message that is no JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The next message, or `None` at the end of the stream.
///
/// # Errors
/// When there is no message where one should be.
pub fn read(input: &mut impl BufRead) -> Result<Option<Value>, FramingError> {
    let Some(length) = header(input)? else { return Ok(None) };
    let length = length.ok_or(FramingError::Length)?;
    if length > LONGEST {
        io::copy(&mut input.take(length), &mut io::sink())?;
        return Err(FramingError::TooLong(length));
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(Some(serde_json::from_slice(&body)?))
}

/// The length that a header tells, if it tells one; `None` at the end of the stream.
fn header(input: &mut impl BufRead) -> Result<Option<Option<u64>>, FramingError> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        if line.trim().is_empty() {
            return Ok(Some(length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
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
    fn after_a_header_without_a_length_the_next_message_is_read() {
        for header in ["X: 3", "Content-Length: many", "Content-Length: -1", "\u{0}\u{1}garbage"] {
            let text = format!("{header}\r\n\r\nContent-Length: 2\r\n\r\n{{}}");
            let mut input = text.as_bytes();
            assert!(matches!(read(&mut input), Err(FramingError::Length)), "{header}");
            assert_eq!(read(&mut input).unwrap(), Some(json!({})), "{header}");
        }
    }

    #[test]
    fn a_message_that_is_too_long_is_skipped_without_being_kept() {
        let length = LONGEST + 1;
        let huge = format!("Content-Length: {length}\r\n\r\n");
        let next = "Content-Length: 2\r\n\r\n{}";
        let mut input =
            io::BufReader::new(huge.as_bytes().chain(io::repeat(b' ').take(length)).chain(next.as_bytes()));
        assert!(matches!(read(&mut input), Err(FramingError::TooLong(_))));
        assert_eq!(read(&mut input).unwrap(), Some(json!({})));
    }

    #[test]
    fn a_message_that_breaks_off_is_the_end() {
        assert!(matches!(read(&mut "Content-Length: 5\r\n\r\n{}".as_bytes()), Err(FramingError::Io(_))));
    }
}
