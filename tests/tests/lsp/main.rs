//! The language server as an editor meets it: real programs, a real tool, a server in this process or one of its own.

mod after_edits;
mod bad_input;
mod build_results;
mod builds;
mod checks;
mod configuration;
mod ends;
mod explained;
mod exploring;
mod failing_lines;
mod folders;
mod frameworks;
mod machine;
mod minimising;
mod neovim;
mod results;
mod showing;
mod stores;
mod warnings;
mod ways_in;
mod workspace;
