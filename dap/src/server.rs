//! Serving clients, one at a time: messages are read on a thread of their own, so that a client that leaves is noticed
//! whatever the program is doing.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use explorer::debug::Controls;
use serde_json::Value;

use crate::adapter::Adapter;
use crate::framing::{self, FramingError};

/// So many messages wait at most: more than any client sends without an answer.
const WAITING: usize = 1000;

/// Input from a client.
enum Incoming {
    Message(Value),
    /// A request to launch, and what ends or interrupts the session that comes of it.
    Launch(Value, Controls),
    /// Something that is no message.
    Fault(String),
}

/// Serves the client at standard input and output, until it leaves.
pub fn serve() {
    serve_over(io::stdin(), io::stdout());
}

/// Serves one client, until it leaves.
pub fn serve_over(input: impl Read + Send + 'static, output: impl Write) {
    let (messages, incoming) = mpsc::sync_channel(WAITING);
    thread::spawn(move || Reader { messages, launches: Vec::new() }.read(BufReader::new(input)));
    let mut adapter = Adapter::new(output);
    for message in incoming {
        let goes_on = match message {
            Incoming::Message(message) => adapter.handle(message),
            Incoming::Launch(message, controls) => {
                adapter.controls = controls;
                adapter.handle(message)
            }
            Incoming::Fault(sentence) => adapter.fault(&sentence),
        };
        if !goes_on {
            break;
        }
    }
}

/// Serves one client after another at a port of the loopback interface; port 0 is a free one. Says which on standard error.
///
/// # Errors
/// When the port cannot be had.
pub fn serve_port(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    // The process that started it may not listen.
    let _ = writeln!(io::stderr(), "the debug adapter listens at {}", listener.local_addr()?);
    for client in listener.incoming() {
        let Ok(client) = client else { continue };
        if let Ok(input) = client.try_clone() {
            serve_over(input, &client);
        }
        // The client may have left already.
        let _ = client.shutdown(std::net::Shutdown::Both);
    }
    Ok(())
}

/// Hands messages on. Ends the program at once when the client leaves, and breaks a move off when it wants to pause.
struct Reader {
    messages: SyncSender<Incoming>,
    /// Those of every session that the client has asked for: the end of one says nothing of those that come later.
    launches: Vec<Controls>,
}

impl Reader {
    fn read(mut self, mut input: impl BufRead) {
        loop {
            let incoming = match framing::read(&mut input) {
                Ok(Some(message)) => self.incoming(message),
                Ok(None) | Err(FramingError::Io(_)) => break,
                Err(error) => Incoming::Fault(error.to_string()),
            };
            if self.messages.send(incoming).is_err() {
                break;
            }
        }
        self.cancel();
    }

    fn incoming(&mut self, message: Value) -> Incoming {
        match message["command"].as_str() {
            Some("launch") => {
                let controls = Controls::default();
                self.launches.push(controls.clone());
                return Incoming::Launch(message, controls);
            }
            Some("disconnect" | "terminate") => self.cancel(),
            Some("pause") => {
                self.launches.iter().for_each(|launch| launch.interrupt.store(true, Ordering::Relaxed));
            }
            _ => {}
        }
        Incoming::Message(message)
    }

    fn cancel(&self) {
        self.launches.iter().for_each(|launch| launch.cancel.store(true, Ordering::Relaxed));
    }
}
