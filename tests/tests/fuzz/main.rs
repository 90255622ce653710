//! Random damage to everything that this tool reads and that others may have made: files of a workspace and of a store,
//! executables, and the messages of editors. Nothing may panic, fill the memory, or go on for ever.
//!
//! Some inputs are run with all other tests; `scripts/fuzz` runs as many as it is told. The inputs are the same in every run.

mod change;
mod corpus;
mod executables;
mod files;
mod protocols;
mod runs;
