//! Values that many places of a report have in common, kept once: an execution can have a million events, on few lines.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that others may have as well; written and read as if it were not shared.
#[derive(PartialEq, Eq, Hash, Debug, Default)]
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

impl<T> Borrow<T> for Shared<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl PartialEq<str> for Shared<String> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl<T: fmt::Display> fmt::Display for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
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

/// What is shared so far.
#[derive(Debug)]
pub(crate) struct Pool<T>(FxHashSet<Shared<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(FxHashSet::default())
    }
}

impl<T: Eq + Hash> Pool<T> {
    /// The one that is the same, or this one from now on.
    pub(crate) fn share(&mut self, one: T) -> Shared<T> {
        match self.0.get(&one) {
            Some(known) => known.clone(),
            None => self.known(Shared::from(one)),
        }
    }

    /// The same for one that may be shared with others already.
    pub(crate) fn known(&mut self, one: Shared<T>) -> Shared<T> {
        if let Some(known) = self.0.get(&*one) {
            return known.clone();
        }
        self.0.insert(one.clone());
        one
    }
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;
    use crate::report::EventLine;
    use crate::schedule_file::SavedChoice;

    /// What is told and saved of a million events is in memory beside two traces of them, and all that may take 500 MB.
    #[test]
    fn a_line_is_small() {
        assert!(size_of::<EventLine>() <= 40, "{}", size_of::<EventLine>());
        assert!(size_of::<SavedChoice>() <= 72, "{}", size_of::<SavedChoice>());
    }

    #[test]
    fn what_is_the_same_is_kept_once() {
        let mut pool = Pool::default();
        let [one, again, other] = ["a", "a", "b"].map(|text| pool.share(text.to_owned()));
        assert!(Arc::ptr_eq(&one.0, &again.0) && !Arc::ptr_eq(&one.0, &other.0));
        assert_eq!(serde_json::to_string(&[one, other]).unwrap(), r#"["a","b"]"#);
    }
}
