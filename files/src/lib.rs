//! The one way to files that may come from elsewhere: a workspace comes from anywhere, and so does a store in it.
//!
//! A file that is read is a regular one, and no larger than its kind may be ([`read`]): opening a pipe or a device waits
//! for another program, or never ends. A file that is written or removed lies below a folder ([`Folder`]) that was opened
//! first; no symbolic link is followed on the way.

#![warn(clippy::unwrap_used)]

mod folder;
mod kind;
mod made;
mod reading;

pub use folder::{Folder, State, is_inside};
pub use kind::Kind;
pub use made::Made;
pub use reading::{open, open_within, read, read_in_parts, read_text, read_within};
