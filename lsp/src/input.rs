//! Input from the client, screened: a message that cannot be read is answered with an error, and the next one is read. The
//! protocol library stops reading at the first such message.

use std::io;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tower_lsp::jsonrpc::{Error, ErrorCode, Request, Response, Result};

/// The method that stands for a message that cannot be read; its answer is an error.
pub(crate) const UNREADABLE: &str = "interleaver/unreadable";

/// A longer message is no editor's.
const LONGEST: usize = 64 << 20;

/// A longer line is no header.
const LONGEST_LINE: u64 = 8 << 10;

/// Parameters of [`UNREADABLE`].
#[derive(Debug, Deserialize)]
pub(crate) struct Unreadable {
    code: i64,
}

impl Unreadable {
    /// # Errors
    /// Always: that is its answer.
    pub(crate) fn answer(&self) -> Result<()> {
        Err(Error::new(ErrorCode::from(self.code)))
    }
}

/// Passes messages on until there are no more.
///
/// # Errors
/// When nothing can be read or passed on any more.
pub(crate) async fn screen(input: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut input = BufReader::new(input);
    while let Some(length) = header(&mut input).await? {
        let body = match length {
            Some(length) if length <= LONGEST => readable(body(&mut input, length).await?),
            Some(length) => {
                let mut rest = (&mut input).take(length as u64);
                tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
                unreadable(&Value::Null, ErrorCode::InvalidRequest)
            }
            None => unreadable(&Value::Null, ErrorCode::ParseError),
        };
        to.write_all(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()).await?;
        to.write_all(&body).await?;
    }
    Ok(())
}

/// The length of the next message: `Some(None)` where its header does not say, `None` at the end.
async fn header(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Option<usize>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(LONGEST_LINE).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        if line == b"\r\n" || line == b"\n" {
            return Ok(Some(length));
        }
        let line = String::from_utf8_lossy(&line).to_ascii_lowercase();
        // The end of a message whose length was given too short stands before it on the line.
        if let Some((_, value)) = line.rsplit_once("content-length:") {
            length = value.trim().parse().ok();
        }
    }
}

async fn body(input: &mut (impl AsyncRead + Unpin), length: usize) -> io::Result<Vec<u8>> {
    let mut body = vec![0; length];
    input.read_exact(&mut body).await?;
    Ok(body)
}

/// The message as it is if the library can read it, else one that stands for it.
fn readable(body: Vec<u8>) -> Vec<u8> {
    let is_request = || serde_json::from_slice::<Request>(&body).is_ok();
    let is_response = || serde_json::from_slice::<Response>(&body).is_ok();
    match serde_json::from_slice::<Value>(&body) {
        Err(_) => unreadable(&Value::Null, ErrorCode::ParseError),
        Ok(_) if is_request() || is_response() => body,
        Ok(message) => {
            let id = message.get("id").filter(|id| id.is_i64() || id.is_string());
            unreadable(id.unwrap_or(&Value::Null), ErrorCode::InvalidRequest)
        }
    }
}

fn unreadable(id: &Value, code: ErrorCode) -> Vec<u8> {
    let params = json!({ "code": code.code() });
    json!({ "jsonrpc": "2.0", "id": id, "method": UNREADABLE, "params": params }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages that are passed on: methods, and codes of those that cannot be read.
    fn screened(input: &str) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut output = Vec::new();
        // The end in the middle of a message is an error, and the end.
        let _ = runtime.block_on(screen(input.as_bytes(), &mut output));
        let output = String::from_utf8(output).unwrap();
        let bodies =
            output.split("Content-Length: ").skip(1).map(|part| part.split_once("\r\n\r\n").unwrap().1);
        let word = |body: &str| {
            let message: Value = serde_json::from_str(body).unwrap();
            let words = [&message["method"], &message["params"]["code"], &message["id"]];
            words
                .iter()
                .filter(|word| !word.is_null())
                .map(|word| word.to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        bodies.map(word).collect()
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    const REQUEST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#;

    #[test]
    fn what_can_be_read_is_passed_on_as_it_is() {
        let notification = r#"{"jsonrpc":"2.0","method":"y","params":{}}"#;
        let response = r#"{"jsonrpc":"2.0","id":3,"result":null}"#;
        let all = [REQUEST, notification, response].map(framed).concat();
        assert_eq!(screened(&all), ["\"x\" 7", "\"y\"", "3"]);
        let with_more = format!("Content-Type: z\r\n{}", framed(REQUEST));
        assert_eq!(screened(&with_more), ["\"x\" 7"]);
    }

    #[test]
    fn what_cannot_be_read_is_answered_and_the_next_one_is_read() {
        for (bad, expected) in [
            (framed("{"), "\"interleaver/unreadable\" -32700"),
            (framed("[1, 2]"), "\"interleaver/unreadable\" -32600"),
            (framed(r#"{"jsonrpc":"2.0","id":5,"method":8}"#), "\"interleaver/unreadable\" -32600 5"),
            ("Content-Length: many\r\n\r\n".to_owned(), "\"interleaver/unreadable\" -32700"),
            ("nonsense\r\n\r\n".to_owned(), "\"interleaver/unreadable\" -32700"),
        ] {
            assert_eq!(screened(&format!("{bad}{}", framed(REQUEST))), [expected, "\"x\" 7"], "{bad}");
        }
    }

    #[test]
    fn a_wrong_length_costs_one_message() {
        let short = format!("Content-Length: 4\r\n\r\n{REQUEST}");
        assert_eq!(
            screened(&format!("{short}{}", framed(REQUEST))),
            ["\"interleaver/unreadable\" -32700", "\"x\" 7"]
        );
        assert_eq!(screened("Content-Length: 99\r\n\r\n{}"), [] as [&str; 0]);
    }
}
