//! The command line, from a program of a compiler to the report.

mod bad_input;
mod discovery;
mod doctor;
mod explanations;
mod memory;
mod programs;
mod resources;
mod searches;
mod synchronisation;
mod text;
mod time;
