//! The command line, from a program of a compiler to the report.

mod always;
mod bad_input;
mod bounded_dpor;
mod cargo_folders;
mod causes;
mod configuration;
mod discover;
mod discover_tests;
mod doctor;
mod endings;
mod few_variables;
mod frameworks;
mod freed_blocks;
mod heap_names;
mod library_code;
mod looks_again;
mod memory;
mod minimise;
mod peculiar;
mod races;
mod read_write_locks;
mod readme;
mod scope;
mod targets;
mod waiting_loops;
mod without_lines;
