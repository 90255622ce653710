//! A schedule as a file: the program, the choices that were made, and the result. See `docs/formats.md`.

mod at;
mod choice;
mod content;
mod encode;
mod io;
mod long_form;
pub(crate) mod names;

pub(crate) use self::at::{function, place};
pub use self::choice::{Actor, SavedChoice};
pub use self::content::{
    FORMAT, FoundBy, KeyPoints, SavedFailure, SavedParty, SavedPass, SavedTarget, ScheduleFile, VERSION,
};
pub use self::io::ScheduleFileError;
#[cfg(test)]
pub(crate) use self::io::tests::example;
