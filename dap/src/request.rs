//! Common parts of requests: arguments, the session, the refusal.

use explorer::debug::{DebugError, Session};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::protocol::Request;

/// A request that cannot be met, as a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refusal(pub(crate) String);

impl From<DebugError> for Refusal {
    fn from(error: DebugError) -> Self {
        Self(error.to_string())
    }
}

/// The answer to a request, before its events.
pub(crate) type Answer = Result<Value, Refusal>;

/// The arguments of a request.
pub(crate) fn arguments<T: DeserializeOwned>(request: &Request) -> Result<T, Refusal> {
    let arguments = if request.arguments.is_null() { json!({}) } else { request.arguments.clone() };
    serde_json::from_value(arguments).map_err(|error| {
        Refusal(format!("the arguments of `{}` are not understood: {error}", request.command))
    })
}

/// The session, once there is one.
#[derive(Clone, Copy)]
pub(crate) struct Launched<'a>(pub(crate) Option<&'a Session>);

impl<'a> Launched<'a> {
    pub(crate) fn session(self) -> Result<&'a Session, Refusal> {
        self.0.ok_or_else(|| Refusal("no schedule has been launched yet".to_owned()))
    }
}

/// The client's numbering of lines and columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbering {
    /// Lines begin with 1.
    pub(crate) lines_from_one: bool,
    /// Columns begin with 1.
    pub(crate) columns_from_one: bool,
}
