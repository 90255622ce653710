//! The verbs: explore, replay, minimise; their common parts, and the view of them that a front end has.

pub(crate) mod adapt;
pub(crate) mod deadline;
pub(crate) mod divergence;
pub(crate) mod explore;
pub mod json_lines;
pub(crate) mod minimise;
pub(crate) mod replay;
pub(crate) mod search;
pub(crate) mod show;
pub mod watch;
