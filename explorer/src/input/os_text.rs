//! Text that comes from the operating system, and so need not be valid UTF-8, as a JSON value.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An argument, a path or the value of a variable: a JSON string, or an array of bytes where it is not UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OsText(pub OsString);

impl<T: AsRef<OsStr>> From<T> for OsText {
    fn from(text: T) -> Self {
        Self(text.as_ref().to_owned())
    }
}

impl Serialize for OsText {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => to.serialize_str(text),
            None => self.0.as_bytes().serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for OsText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Bytes(Vec<u8>),
        }
        Ok(Self(match Form::deserialize(from)? {
            Form::Text(text) => text.into(),
            Form::Bytes(bytes) => OsString::from_vec(bytes),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_not_utf8_survives() {
        for (bytes, json) in [(&b"a b"[..], r#""a b""#), (&[b'a', 0xff][..], "[97,255]")] {
            let text = OsText(OsString::from_vec(bytes.to_vec()));
            assert_eq!(serde_json::to_string(&text).unwrap(), json);
            assert_eq!(serde_json::from_str::<OsText>(json).unwrap(), text);
        }
    }
}
