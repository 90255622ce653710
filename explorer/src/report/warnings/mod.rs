//! Warnings: failures that are possible in other executions than those that were run.

pub(super) mod potential_deadlock;
pub(super) mod race;
