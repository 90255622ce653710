//! Strings of characters, wherever they are kept.

use super::typed::{Elements, TypedValue};
use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::dwarf::source_unit::Language;
use crate::debuginfo::entries::shape::Form;
use crate::debuginfo::inspect::stopped::thread::StoppedThread;

/// Number of bytes of a text that are shown.
const MOST_SHOWN: u64 = 256;

/// A text, as far as it is shown.
pub(crate) struct Text {
    bytes: Vec<u8>,
    /// Whether there is more of it.
    is_cut: bool,
    /// The characters one by one, where the program has them as an array.
    pub(crate) elements: Option<Elements>,
}

impl Text {
    /// In quotes, with everything unprintable escaped.
    pub(crate) fn quoted(&self) -> String {
        let mut quoted = String::from("\"");
        for chunk in self.bytes.utf8_chunks() {
            quoted.extend(chunk.valid().chars().flat_map(|c| {
                // An apostrophe needs no escape in a text.
                let plain = (c == '\'').then_some(c);
                let escaped = plain.is_none().then(|| c.escape_debug());
                plain.into_iter().chain(escaped.into_iter().flatten())
            }));
            // A character that was cut in the middle is no damage.
            let is_end = self.is_cut && quoted.len() >= self.bytes.len();
            if !is_end {
                quoted.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
            }
        }
        quoted.push('"');
        if self.is_cut {
            quoted.push('…');
        }
        quoted
    }
}

impl StoppedThread<'_> {
    /// A text of known length at an address.
    pub(crate) fn text_at(&self, address: u64, length: u64) -> Result<Text, Missing> {
        let mut bytes = vec![0; length.min(MOST_SHOWN) as usize];
        if !bytes.is_empty() && !self.memory().read(address, &mut bytes) {
            return Err(Missing::Unreadable(address));
        }
        Ok(Text { bytes, is_cut: length > MOST_SHOWN, elements: None })
    }

    /// A text of known length, in characters of 1, 2 or 4 bytes, at an address.
    pub(crate) fn wide_text_at(&self, address: u64, length: u64, width: u64) -> Result<Text, Missing> {
        if width == 1 {
            return self.text_at(address, length);
        }
        let shown = length.min(MOST_SHOWN);
        let mut bytes = vec![0; (shown * width) as usize];
        if !bytes.is_empty() && !self.memory().read(address, &mut bytes) {
            return Err(Missing::Unreadable(address));
        }
        let text = decoded(&bytes, width).ok_or(Missing::Unsupported("a text of such characters"))?;
        Ok(Text { bytes: text.into_bytes(), is_cut: length > shown, elements: None })
    }

    /// The text that begins with a character of C, if it is one: it ends with a zero.
    pub(crate) fn c_string(&self, first: &TypedValue) -> Option<Text> {
        if !self.is_c_character(first) {
            return None;
        }
        let address = first.location.address()?;
        let mut bytes = Vec::new();
        for offset in 0..MOST_SHOWN {
            let mut byte = [0];
            if !self.memory().read(address.checked_add(offset)?, &mut byte) {
                // Bytes without an end are no text.
                return None;
            }
            if byte == [0] {
                return Some(Text { bytes, is_cut: false, elements: None });
            }
            bytes.extend(byte);
        }
        Some(Text { bytes, is_cut: true, elements: None })
    }

    /// An array of C's characters, up to its zero if there is one.
    pub(crate) fn characters(&self, elements: &Elements) -> Option<Text> {
        if !self.is_c_character(&elements.first) || elements.stride != 1 {
            return None;
        }
        let count = elements.count?;
        let mut bytes = vec![0; count.min(MOST_SHOWN) as usize];
        elements.first.location.read(self.memory(), &mut bytes).ok()?;
        let end = bytes.iter().position(|&byte| byte == 0);
        bytes.truncate(end.unwrap_or(bytes.len()));
        let is_cut = end.is_none() && count > MOST_SHOWN;
        Some(Text { bytes, is_cut, elements: Some(elements.clone()) })
    }

    /// Whether a value is of C's or C++'s plain character type; numbers of that size have another name.
    fn is_c_character(&self, value: &TypedValue) -> bool {
        if self.language(value) == Language::Rust {
            return false;
        }
        self.shape(value).is_some_and(|shape| {
            matches!(shape.form, Form::Base(gimli::DW_ATE_signed_char | gimli::DW_ATE_UTF))
                && matches!(shape.name.as_deref(), Some("char" | "char8_t"))
        })
    }
}

/// A text of wide characters.
fn decoded(bytes: &[u8], width: u64) -> Option<String> {
    match width {
        2 => {
            let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
            Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
        }
        4 => {
            let units =
                bytes.chunks_exact(4).map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]));
            Some(units.map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
        }
        _ => None,
    }
}
