//! Benchmarks of the whole tool.
