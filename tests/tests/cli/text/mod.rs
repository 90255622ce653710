//! Output as its readers see it.

mod readme;
mod show;
mod wide_names;
