//! A workspace as others see it: by file, as a list, one program by itself; and reasons for what is missing.

mod file_view;
mod listing;
mod not_built;
mod program_identity;
mod why_not;

pub use self::listing::{ListedExecutable, Listing};
pub use self::program_identity::{ProgramIdentity, identify};
