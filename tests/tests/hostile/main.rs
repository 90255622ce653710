//! A repository that means harm: every verb of the command line, the language server and the debug adapter are run over it.
//! Nothing outside of its store changes, byte for byte, and nothing of it runs that was not asked for.

mod editors;
mod executions;
mod large;
mod programs;
mod repository;
mod schedules;
mod terminals;
mod verbs;
