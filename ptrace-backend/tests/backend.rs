//! The backend on real programs, in one binary: each costs as much to compile.

mod debuginfo;
mod executions;
mod instructions;
