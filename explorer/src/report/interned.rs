//! Values that many places of a report have in common, kept once: an execution can have a million events, on few lines.

use std::ops::Deref;
use std::sync::Arc;

use internment::ArcIntern;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that is kept once for all its owners, for as long as there is one: also where it was read from a file.
pub type SharedText = ArcIntern<String>;

/// A value that others may have as well; written and read as if it were not shared.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Shared<T>(Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[cfg(test)]
impl<T: Clone> Shared<T> {
    /// The value, to be changed here and nowhere else.
    pub(crate) fn make_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;
    use crate::report::EventLine;
    use crate::schedule_file::SavedChoice;

    /// The lines of a million events are in memory beside two traces of them, and all that may take 500 MB.
    #[test]
    fn a_line_is_small() {
        assert!(size_of::<EventLine>() <= 40, "{}", size_of::<EventLine>());
        assert!(size_of::<SavedChoice>() <= 72, "{}", size_of::<SavedChoice>());
    }

    #[test]
    fn a_text_that_was_read_is_kept_once() {
        let text = r#"["a","a","b"]"#;
        let [one, again, other]: [SharedText; 3] = serde_json::from_str(text).unwrap();
        assert!(std::ptr::eq(&*one, &*again) && !std::ptr::eq(&*one, &*other));
        assert_eq!(serde_json::to_string(&[one, again, other]).unwrap(), text);
    }
}
