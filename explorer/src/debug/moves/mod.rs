//! Moves: by event, by line, to breakpoints and filters, both ways.

pub(super) mod back;
pub(super) mod cursor;
pub(super) mod ending;
pub(super) mod filters;
pub(super) mod landmarks;
pub(super) mod running;
pub(super) mod scan;
pub(super) mod scan_cache;
pub(super) mod stepping;
