//! A user's input: the request, the target's environment, and names of files that another checkout finds.

pub(crate) mod command;
pub mod environment;
pub mod os_text;
pub mod portable_path;
pub mod project_root;
pub mod request;
