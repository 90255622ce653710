//! Numbers, characters, booleans and enumerators in the words of their language.

use gimli::DwAte;

use super::float;
use super::typed::TypedValue;
use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::dwarf::source_unit::Language;
use crate::debuginfo::entries::shape::{Form, Shape};
use crate::debuginfo::inspect::stopped::thread::StoppedThread;

impl StoppedThread<'_> {
    /// The words for a value of a base or enumeration type; none if it has no meaning in its type.
    pub(crate) fn scalar(&self, value: &TypedValue, shape: &Shape) -> Result<Option<String>, Missing> {
        match &shape.form {
            Form::Base(encoding) => self.base(value, shape, *encoding),
            Form::Enumeration { enumerators, .. } => {
                let number = self.integer(value)?;
                let named = enumerators.iter().find(|(_, value)| *value == number);
                Ok(Some(named.map_or_else(|| number.to_string(), |(name, _)| name.clone())))
            }
            _ => Ok(None),
        }
    }

    fn base(&self, value: &TypedValue, shape: &Shape, encoding: DwAte) -> Result<Option<String>, Missing> {
        let (raw, bits) = self.raw(value)?;
        if bits == 0 {
            // Rust's `()` and `!` are base types without a size.
            return Ok(Some("()".to_owned()));
        }
        if bits > 128 || shape.size.is_some_and(|size| size > 16) {
            return match encoding {
                gimli::DW_ATE_complex_float => self.complex(value, shape),
                _ => Ok(None),
            };
        }
        let language = self.language(value);
        let name = shape.name.as_deref().unwrap_or_default();
        Ok(match encoding {
            gimli::DW_ATE_boolean => match raw {
                0 => Some("false".to_owned()),
                1 => Some("true".to_owned()),
                _ => None,
            },
            gimli::DW_ATE_signed if self.is_called(value, "wchar_t") => character(raw),
            gimli::DW_ATE_signed => Some(self.integer(value)?.to_string()),
            gimli::DW_ATE_unsigned | gimli::DW_ATE_address => Some(raw.to_string()),
            // Rust's and C's fixed-size integers are numbers even where they have the size of a character.
            gimli::DW_ATE_unsigned_char | gimli::DW_ATE_signed_char if language == Language::Rust => {
                Some(self.integer(value)?.to_string())
            }
            gimli::DW_ATE_unsigned_char | gimli::DW_ATE_signed_char => {
                let number = self.integer(value)?;
                // Only what is called `char` is likely to be meant as a character where it has no glyph.
                let is_text = |byte: &u8| byte.is_ascii_graphic() || (byte.is_ascii() && name == "char");
                let glyph = u8::try_from(raw).ok().filter(is_text);
                Some(match glyph {
                    Some(glyph) => format!("{number} {}", quoted(glyph.into())),
                    None => number.to_string(),
                })
            }
            gimli::DW_ATE_UTF if language == Language::Rust => glyph(raw).map(quoted),
            gimli::DW_ATE_UTF => character(raw),
            gimli::DW_ATE_float => float::text(raw, shape.size, name),
            gimli::DW_ATE_complex_float => return self.complex(value, shape),
            _ => None,
        })
    }

    fn complex(&self, value: &TypedValue, shape: &Shape) -> Result<Option<String>, Missing> {
        let bytes = self.bytes(value, 32)?;
        let half = bytes.len() / 2;
        let name = shape.name.as_deref().unwrap_or_default();
        let part = |bytes: &[u8]| {
            let mut word = [0; 16];
            word.get_mut(..bytes.len())?.copy_from_slice(bytes);
            float::text(u128::from_le_bytes(word), Some(half as u64), name.trim_start_matches("complex "))
        };
        let parts = part(&bytes[..half]).zip(part(&bytes[half..]));
        Ok(parts.map(|(real, imaginary)| format!("{real} + {imaginary}i")))
    }
}

fn glyph(raw: u128) -> Option<char> {
    char::from_u32(u32::try_from(raw).ok()?)
}

/// A C or C++ character that is wider than a byte.
fn character(raw: u128) -> Option<String> {
    Some(match glyph(raw) {
        Some(glyph) => format!("{raw} {}", quoted(glyph)),
        None => raw.to_string(),
    })
}

fn quoted(glyph: char) -> String {
    match glyph {
        '\0' => "'\\0'".to_owned(),
        '"' => "'\"'".to_owned(),
        other => format!("'{}'", other.escape_debug()),
    }
}
