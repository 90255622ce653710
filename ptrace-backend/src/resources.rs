//! The machine's resources that this process may use.

use crate::os::own::{self, Resource};

/// So much memory, address space or the process's own, is needed to explore anything, in bytes.
const MEMORY: u64 = 512 << 20;

/// So many open files are needed.
const FILES: u64 = 32;

/// Prepares the process for the exhaustion of resources: a file that may not grow any more is an error of the write.
///
/// # Errors
/// A sentence, if too little is allowed for anything to be done.
pub fn prepare() -> Result<(), String> {
    own::survive_long_files();
    let mut too_little = [Resource::AddressSpace, Resource::Data, Resource::OpenFiles].into_iter();
    match too_little.find_map(lacking) {
        Some(sentence) => Err(sentence),
        None => Ok(()),
    }
}

/// Whether the process was started without a standard output: what is written there goes nowhere, and no error says so.
#[must_use]
pub fn has_no_output() -> bool {
    own::has_no_output()
}

/// A sentence where there is too little of something.
fn lacking(resource: Resource) -> Option<String> {
    let (name, least, unit, shift, option) = match resource {
        Resource::AddressSpace => ("address space", MEMORY, " MB", 20, "-v"),
        Resource::Data => ("memory", MEMORY, " MB", 20, "-d"),
        Resource::OpenFiles => ("open files", FILES, "", 0, "-n"),
    };
    let allowed = own::allowed(resource).filter(|allowed| *allowed < least)?;
    let [allowed, least] = [allowed, least].map(|amount| amount >> shift);
    Some(format!(
        "the limit on {name} is {allowed}{unit}, and this takes {least}{unit}: raise it (`ulimit {option}`)"
    ))
}
