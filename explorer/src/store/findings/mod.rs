//! Findings in the store. Of each target it keeps the last run, and every finding with the sources and the program that it
//! was found in, until the user dismisses it. See `docs/formats.md`.

mod again;
mod extent;
mod fixed_check;
mod read;
mod record;
mod signature;
mod sources;
#[cfg(test)]
mod tests;
mod writer;

pub use self::extent::{Bound, Extent};
pub use self::fixed_check::last_words;
pub use self::read::{KeptFolder, folders, stores_of};
pub(crate) use self::record::KeptHead;
pub use self::record::{
    CheckResult, Checked, FINDING, KeptFinding, KeptPotentialDeadlock, KeptSource, KeptTarget, Run, TARGET,
    VERSION, content_hash, program_id,
};
pub(crate) use self::writer::FindingWriter;
