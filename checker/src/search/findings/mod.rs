//! A failure on its way to a finding: which one it is, whether it happens again, whether it always does, and how it is shown.

pub(super) mod always_fails;
pub(super) mod failing_execution;
pub(super) mod identity;
pub(super) mod late_joins;
pub(super) mod reproduction;
