//! The functions of formatted input from a string, `sscanf` and its kin.

/// Such a function: the string is its first argument, the format its second one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Scanned {
    /// The places for the results come as a list of arguments.
    pub(super) list: bool,
}

impl Scanned {
    /// The function of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let plain = name.strip_prefix("__isoc99_").or_else(|| name.strip_prefix("__isoc23_")).unwrap_or(name);
        match plain {
            "sscanf" => Some(Self { list: false }),
            "vsscanf" => Some(Self { list: true }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_name() {
        assert_eq!(Scanned::named("__isoc99_sscanf"), Some(Scanned { list: false }));
        assert_eq!(Scanned::named("vsscanf"), Some(Scanned { list: true }));
        assert_eq!(Scanned::named("scanf"), None);
    }
}
