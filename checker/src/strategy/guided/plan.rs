//! The constraints of one execution.

use super::pairs::Constraint;

pub(super) type Plan = Vec<Constraint>;
