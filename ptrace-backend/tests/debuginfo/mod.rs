//! Knowledge of programs that is gained without running them, checked on programs compiled here and now.

mod build;
mod c_programs;
mod cpp_programs;
mod damaged;
mod inspect;
mod libraries;
mod refusals;
mod rust_programs;
mod snapshots;
mod stripped;
mod unwinding;
