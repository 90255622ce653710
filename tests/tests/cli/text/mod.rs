//! Output as its readers see it.

mod long;
mod readme;
mod show;
mod wide_names;
