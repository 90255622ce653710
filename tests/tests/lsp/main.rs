//! The language server as an editor meets it: real programs, a real tool, a server in this process or one of its own.

mod bad_input;
mod building;
mod checks;
mod discovery;
mod ends;
mod exploring;
mod findings;
mod machine;
mod neovim;
mod workspace;
