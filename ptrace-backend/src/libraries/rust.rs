//! Functions of Rust's standard library, which is part of a program, that work on state of the process.

use super::effects::{Effects, GlobalState};
use crate::debuginfo::demangle;

/// A word of the symbols of all of them, in each scheme of names: to read a name takes long.
const COMMON: &str = "panicking";

const TABLE: [(&str, Effects); 4] = [
    ("std::panicking::set_hook", Effects::Changes(GlobalState::PanicHook)),
    ("std::panicking::take_hook", Effects::Changes(GlobalState::PanicHook)),
    ("std::panicking::panic_with_hook", Effects::DependsOn(GlobalState::PanicHook)),
    // Its name in older versions of Rust.
    ("std::panicking::rust_panic_with_hook", Effects::DependsOn(GlobalState::PanicHook)),
];

/// The effects of the function of this symbol, if it is one of these.
pub(crate) fn effects_in_std(symbol: &str) -> Option<Effects> {
    let name = symbol.contains(COMMON).then(|| demangle(symbol))?;
    TABLE.iter().find(|(known, _)| *known == name).map(|(_, effects)| *effects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_in_both_schemes_of_names() {
        let changes = Some(Effects::Changes(GlobalState::PanicHook));
        assert_eq!(effects_in_std("_ZN3std9panicking8set_hook17h0123456789abcdefE"), changes);
        assert_eq!(effects_in_std("_RNvNtCs1234_3std9panicking9take_hook"), changes);
        assert_eq!(effects_in_std("_ZN3std9panicking12default_hook17h0123456789abcdefE"), None);
    }
}
