//! Damage: what is changed in bytes that were right.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// One change, somewhere.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// One bit is another.
    Flip(Index, u8),
    /// Bytes are others.
    Set(Index, Vec<u8>),
    /// It ends here.
    Cut(Index),
    /// A part is missing.
    Drop(Index, u16),
    /// A part is there several times.
    Repeat(Index, u16, u8),
    /// Text is put in.
    Put(Index, String),
}

/// Texts that parsers have to be ready for.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        (1..6000_usize, prop_oneof![Just("["), Just("{\"a\":"), Just("("), Just("a.")])
            .prop_map(|(levels, part)| part.repeat(levels)),
        prop_oneof![
            Just("18446744073709551616"),
            Just("-1"),
            Just("1e999"),
            Just("null"),
            Just("\"\\ud800\""),
            Just("\u{202e}"),
            Just("\0"),
            Just("../../../etc/passwd"),
            Just("/dev/zero"),
        ]
        .prop_map(str::to_owned),
        "\\PC{0,12}",
    ]
}

/// The ends of what integers can be, as the bytes of a file have them.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![
        Just(0_u64),
        Just(1),
        Just(u64::MAX),
        Just(u64::MAX / 2),
        Just(1 << 31),
        Just(1 << 39),
        Just(0x7fff_ffff),
        any::<u64>(),
    ];
    let number = (number, prop_oneof![Just(1_usize), Just(2), Just(4), Just(8)]);
    prop_oneof![
        number.prop_map(|(number, size)| number.to_le_bytes()[..size].to_vec()),
        vec(any::<u8>(), 1..12),
    ]
}

/// A few changes.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    let one = prop_oneof![
        3 => (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        4 => (any::<Index>(), bytes()).prop_map(|(at, bytes)| Change::Set(at, bytes)),
        1 => any::<Index>().prop_map(Change::Cut),
        1 => (any::<Index>(), any::<u16>()).prop_map(|(at, size)| Change::Drop(at, size % 512)),
        1 => (any::<Index>(), any::<u16>(), 1..64_u8).prop_map(|(at, size, times)| Change::Repeat(at, size % 512, times)),
        2 => (any::<Index>(), text()).prop_map(|(at, text)| Change::Put(at, text)),
    ];
    vec(one, 1..5)
}

/// The bytes with the changes, all within a part of them.
pub(crate) fn changed(bytes: &[u8], part: std::ops::Range<usize>, changes: &[Change]) -> Vec<u8> {
    let mut inside = bytes[part.clone()].to_vec();
    for change in changes {
        if inside.is_empty() {
            break;
        }
        let end = |at: usize, size: u16| (at + usize::from(size)).min(inside.len());
        match change {
            Change::Flip(at, bit) => {
                let at = at.index(inside.len());
                inside[at] ^= 1 << bit;
            }
            Change::Set(at, new) => {
                let at = at.index(inside.len());
                let size = new.len().min(inside.len() - at);
                inside[at..at + size].copy_from_slice(&new[..size]);
            }
            Change::Cut(at) => inside.truncate(at.index(inside.len())),
            Change::Drop(at, size) => {
                let at = at.index(inside.len());
                inside.drain(at..end(at, *size));
            }
            Change::Repeat(at, size, times) => {
                let at = at.index(inside.len());
                let more = inside[at..end(at, *size)].repeat(usize::from(*times));
                inside.splice(at..at, more);
            }
            Change::Put(at, text) => {
                let at = at.index(inside.len());
                inside.splice(at..at, text.bytes());
            }
        }
    }
    [&bytes[..part.start], &inside, &bytes[part.end..]].concat()
}
