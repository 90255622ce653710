//! Machine code: what it touches, which of it is watched, and copies of it that run elsewhere.

mod accesses;
mod candidates;
mod interpretation;
mod machine;
mod programs;
mod relocation;
mod state;
