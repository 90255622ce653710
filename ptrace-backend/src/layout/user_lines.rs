//! Addresses in code by whether a line of the user's own source is there: looked up in the debug information once each, since
//! every call of a thread function asks.

use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

/// The addresses that were looked up so far.
#[derive(Default)]
pub(crate) struct UserLines {
    known: Mutex<FxHashMap<u64, bool>>,
    /// The program has such lines.
    are_there: OnceLock<bool>,
}

impl UserLines {
    /// Whether the program has such lines, which `look` finds; where that has no time for it, it has, and nothing is kept.
    pub(crate) fn are_there(&self, look: impl FnOnce() -> Option<bool>) -> bool {
        if let Some(&are_there) = self.are_there.get() {
            return are_there;
        }
        look().is_none_or(|are_there| *self.are_there.get_or_init(|| are_there))
    }

    /// The answer for an address, which `look` finds; where that has no time for it, there is no line, and nothing is kept.
    pub(crate) fn at(&self, address: u64, look: impl FnOnce() -> Option<bool>) -> bool {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&is_users) = known().get(&address) {
            return is_users;
        }
        let Some(is_users) = look() else { return false };
        known().insert(address, is_users);
        is_users
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_looked_up_once_unless_there_was_no_time() {
        let lines = UserLines::default();
        assert!(!lines.at(1, || None));
        assert!(lines.at(1, || Some(true)));
        assert!(lines.at(1, || panic!("it is known")));
        assert!(!lines.at(2, || Some(false)));
    }
}
