//! Executions that other workers run ahead of their turn.

pub(super) mod speculation;
pub(super) mod workers;
