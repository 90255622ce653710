//! The actions of a program at one point, as plain data: agents, operations, events, failures, and the names in them.

pub mod agent;
pub mod divergence;
pub mod failure;
pub mod lock_action;
pub mod names;
pub mod object_description;
pub mod operation;
pub mod position;
pub mod ranges;
pub mod recorded;
pub mod refusal;
pub mod step;
pub mod timing;
mod verbs;
pub mod wait;
