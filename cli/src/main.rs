//! The `interleaver` command.

mod args;

fn main() {}
