//! Discovery of programs in a workspace: its folders, test frameworks, configuration, and threads that are created elsewhere.

mod configuration;
mod folders;
mod frameworks;
mod ways_in;
