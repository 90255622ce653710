//! Libraries of the system, compiled in advance: what of their code is watched, and what is known of the rest.

pub(crate) mod effects;
mod names;
pub(crate) mod reach;
pub(crate) mod rust;
pub(crate) mod task_schedulers;
