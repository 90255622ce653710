//! A workspace as others see it: by file, as a list, one program by itself; and reasons for what is missing.

mod alone;
mod file_view;
mod listing;
mod not_built;
mod why_not;

pub use self::alone::{Alone, alone};
pub use self::listing::{Listed, Listing};
