//! Handlers of requests, a file for each subject; `adapter` gives a request the parts of the connection that it needs.

pub(crate) mod breakpoints;
pub(crate) mod launching;
pub(crate) mod sources;
pub(crate) mod stack_trace;
pub(crate) mod stepping;
pub(crate) mod variables;
