//! Exceptions of the C++ library, which are made of texts.

use super::arguments::PointeeSize::{Bytes, CxxString, Text};
use super::arguments::{Pointee, PointeeSize, reads, updates, writes};

/// Classes of exceptions, as the symbols of their members begin. Operations on them other than that they are made and destroyed, copies
/// and pointers to them, which count their owners, are not known by name.
const CLASSES: &[&str] = &[
    "_ZNSt13runtime_error",
    "_ZNSt11logic_error",
    "_ZNSt16invalid_argument",
    "_ZNSt12out_of_range",
    "_ZNSt12length_error",
    "_ZNSt12domain_error",
    "_ZNSt11range_error",
    "_ZNSt14overflow_error",
    "_ZNSt15underflow_error",
    "_ZNSt12system_error",
    "_ZNSt9bad_alloc",
    "_ZNSt8bad_cast",
];

/// The table of virtual functions, and the pointer to the text.
const OBJECT: PointeeSize = Bytes(16);

/// The memory that the arguments of the function of this name point to.
pub(super) fn named(name: &str) -> Option<&'static [Pointee]> {
    let member = CLASSES.iter().find_map(|class| name.strip_prefix(class))?;
    if ["D0", "D1", "D2"].iter().any(|destroys| member.starts_with(destroys)) {
        return Some(const { &[updates(0, OBJECT)] });
    }
    let from = ["C1E", "C2E"].iter().find_map(|makes| member.strip_prefix(makes))?;
    Some(match from {
        "PKc" => const { &[writes(0, OBJECT), reads(1, Text)] },
        _ if from.starts_with("RKNSt7__cxx1112basic_string") => {
            const { &[writes(0, OBJECT), reads(1, CxxString)] }
        }
        "RKS_" | "OS_" | "RKS0_" | "OS0_" => return None,
        _ => const { &[writes(0, OBJECT)] },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_made_of_texts_and_not_copied_by_name() {
        assert_eq!(named("_ZNSt13runtime_errorC1EPKc").unwrap(), [writes(0, OBJECT), reads(1, Text)]);
        let of_string = "_ZNSt11logic_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
        assert_eq!(named(of_string).unwrap(), [writes(0, OBJECT), reads(1, CxxString)]);
        assert_eq!(named("_ZNSt13runtime_errorD2Ev").unwrap(), [updates(0, OBJECT)]);
        assert_eq!(named("_ZNSt13runtime_errorC1ERKS_"), None);
        assert_eq!(named("_ZNSt13runtime_erroraSERKS_"), None);
    }
}
