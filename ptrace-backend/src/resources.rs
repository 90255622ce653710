//! What this process may use of the machine.

use crate::os::own;

/// So much address space is needed to explore anything, in bytes.
const ADDRESS_SPACE: u64 = 512 << 20;

/// Prepares the process for what it may run out of: a file that may not grow any more is an error of who writes it.
///
/// # Errors
/// A sentence, where too little is allowed for anything to be done.
pub fn prepare() -> Result<(), String> {
    own::survive_long_files();
    match own::address_space() {
        Some(limit) if limit < ADDRESS_SPACE => Err(format!(
            "the limit on address space is {} MB, and this takes {} MB: raise it (`ulimit -v`)",
            limit >> 20,
            ADDRESS_SPACE >> 20
        )),
        _ => Ok(()),
    }
}
