//! The choices of a long schedule as they are read: see `docs/formats.md`.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::choice::SavedChoice;

/// A sequence has no more choices than these: as many as the largest file of the other form.
pub(super) const MOST: usize = 4_000_000;

/// The long form: each choice that is made is listed once, and the sequence has their numbers in this list.
#[derive(Deserialize)]
pub(super) struct Numbered {
    distinct_choices: Vec<SavedChoice>,
    #[serde(deserialize_with = "sequence")]
    sequence: Vec<u32>,
}

/// The numbers of a sequence, which ends with an error where it is too long: two bytes of a file stand for a choice.
fn sequence<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
    struct Sequence;

    impl<'de> Visitor<'de> for Sequence {
        type Value = Vec<u32>;

        fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(to, "at most {MOST} numbers of choices")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
            let mut numbers = Vec::new();
            while let Some(number) = from.next_element()? {
                if numbers.len() == MOST {
                    return Err(Error::invalid_length(MOST + 1, &self));
                }
                numbers.push(number);
            }
            Ok(numbers)
        }
    }

    from.deserialize_seq(Sequence)
}

impl Numbered {
    /// The choices in their order.
    pub(super) fn choices(&self) -> Result<Vec<SavedChoice>, serde_json::Error> {
        let choice = |number: &u32| {
            let choice = self.distinct_choices.get(*number as usize).cloned();
            choice.ok_or_else(|| Error::custom(format!("there is no distinct choice {number}")))
        };
        self.sequence.iter().map(choice).collect()
    }
}
