//! Kinds of programs: bundled and peculiar ones, those with clients or tests, with other endings or signals, and correct ones.

mod client;
mod endings;
mod far_code;
mod frameworks;
mod late_libraries;
mod no_alarm;
mod odd_states;
mod peculiar;
mod side_effects;
mod signals;
mod targets;
mod untyped_code;
