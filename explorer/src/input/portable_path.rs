//! Naming a file or a folder so that another checkout finds it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::input::os_text::OsText;

/// Place of a file or a folder: relative to the root of the checkout if it lies in there, else an absolute path, which
/// means something on this machine only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Below the root; the root itself is the empty path.
    Relative(OsText),
    /// Anywhere else.
    Absolute(OsText),
}

impl Place {
    /// The name of `path`; both must be absolute.
    #[must_use]
    pub fn of(path: &Path, root: &Path) -> Self {
        match path.strip_prefix(root) {
            Ok(inside) => Self::Relative(inside.into()),
            Err(_) => Self::Absolute(path.into()),
        }
    }

    /// Its path in the checkout whose root is `root`.
    #[must_use]
    pub fn in_checkout(&self, root: &Path) -> PathBuf {
        match self {
            // Joining an empty path would append a separator.
            Self::Relative(inside) if inside.0.is_empty() => root.to_owned(),
            Self::Relative(inside) => root.join(&inside.0),
            Self::Absolute(path) => PathBuf::from(&path.0),
        }
    }

    /// Whether another checkout finds it.
    #[must_use]
    pub fn is_portable(&self) -> bool {
        matches!(self, Self::Relative(_))
    }

    /// The name as people read it.
    #[must_use]
    pub fn display(&self) -> String {
        let (Self::Relative(text) | Self::Absolute(text)) = self;
        if text.0.is_empty() { ".".to_owned() } else { text.0.to_string_lossy().into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_the_checkout_moves_with_it() {
        let place = Place::of(Path::new("/a/checkout/build/x"), Path::new("/a/checkout"));
        assert!(place.is_portable());
        assert_eq!(serde_json::to_string(&place).unwrap(), r#"{"relative":"build/x"}"#);
        assert_eq!(place.in_checkout(Path::new("/b")), Path::new("/b/build/x"));
    }

    #[test]
    fn what_lies_outside_stays_where_it_is() {
        let place = Place::of(Path::new("/usr/bin/x"), Path::new("/a"));
        assert!(!place.is_portable());
        assert_eq!(serde_json::to_string(&place).unwrap(), r#"{"absolute":"/usr/bin/x"}"#);
        assert_eq!(place.in_checkout(Path::new("/b")), Path::new("/usr/bin/x"));
    }

    #[test]
    fn the_root_itself_is_a_place() {
        let place = Place::of(Path::new("/a"), Path::new("/a"));
        assert_eq!(place.display(), ".");
        assert_eq!(place.in_checkout(Path::new("/b")).as_os_str(), "/b");
    }
}
