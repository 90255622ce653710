//! Output as its readers see it.

mod long;
mod readme;
mod scrambled;
mod show;
mod wide_names;
