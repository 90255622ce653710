//! What can be explored in a workspace, and what its configuration says of that.

mod cargo_folders;
mod configuration;
mod discover;
mod discover_tests;
mod looks_again;
