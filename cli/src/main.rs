//! The `interleaver` command.

fn main() {}
