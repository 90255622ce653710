//! Discovery of programs in a workspace, and its configuration.

mod cargo_folders;
mod configuration;
mod discover;
mod discover_tests;
mod looks_again;
