//! The bytes of a value, wherever the compiler keeps them.

use std::sync::Arc;

use gimli::{Location, Piece};

use crate::debuginfo::dwarf::expression::Surroundings;
use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::dwarf::reader::Reader;
use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::memory::Memory;

/// Larger values are not put together of pieces: they are in memory.
const MOST_PIECED: u64 = 1 << 16;

/// The place of a value's bytes.
#[derive(Clone, Debug)]
pub(crate) enum ValueLocation {
    /// In the program's memory.
    Memory(u64),
    /// In registers, constants and several places in memory.
    Pieced {
        bytes: Arc<[Option<u8>]>,
        start: u64,
    },
    /// A pointer that the compiler did away with, to a variable whose value is known.
    Implied {
        variable: Ref,
        offset: i64,
    },
    Missing(Missing),
}

impl ValueLocation {
    pub(crate) fn constant(bytes: &[u8]) -> Self {
        Self::Pieced { bytes: bytes.iter().copied().map(Some).collect(), start: 0 }
    }

    /// The contents `offset` bytes into the value.
    pub(crate) fn at(&self, offset: u64) -> Self {
        match self {
            Self::Memory(address) => Self::Memory(address.wrapping_add(offset)),
            Self::Pieced { bytes, start } => {
                Self::Pieced { bytes: Arc::clone(bytes), start: start.saturating_add(offset) }
            }
            other => other.clone(),
        }
    }

    /// The address of what is in memory.
    pub(crate) fn address(&self) -> Option<u64> {
        match self {
            Self::Memory(address) => Some(*address),
            _ => None,
        }
    }

    /// Fills `buffer` with the first bytes.
    pub(crate) fn read(&self, memory: &dyn Memory, buffer: &mut [u8]) -> Result<(), Missing> {
        if buffer.is_empty() {
            return Ok(());
        }
        match self {
            Self::Memory(address) if memory.read(*address, buffer) => Ok(()),
            Self::Memory(address) => Err(Missing::Unreadable(*address)),
            Self::Pieced { bytes, start } => {
                let from =
                    usize::try_from(*start).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
                if from.len() < buffer.len() {
                    return Err(Missing::Gone);
                }
                for (to, from) in buffer.iter_mut().zip(from) {
                    *to = from.ok_or(Missing::Gone)?;
                }
                Ok(())
            }
            Self::Implied { .. } => Err(Missing::Gone),
            Self::Missing(missing) => Err(*missing),
        }
    }

    /// Puts together what a location expression resulted in. `locate` finds the entry of a pointer's target.
    pub(crate) fn of_pieces(
        pieces: &[Piece<Reader>],
        around: &dyn Surroundings,
        locate: &dyn Fn(gimli::DebugInfoOffset) -> Option<Ref>,
    ) -> Self {
        match pieces {
            [] => Self::Missing(Missing::Gone),
            [Piece { location: Location::Address { address }, size_in_bits: None, .. }] => {
                Self::Memory(*address)
            }
            [Piece { location: Location::ImplicitPointer { value, byte_offset }, .. }] => {
                let implied = locate(*value).map(|variable| Self::Implied { variable, offset: *byte_offset });
                implied.unwrap_or(Self::Missing(Missing::Gone))
            }
            _ => {
                let mut bits = Vec::new();
                for piece in pieces {
                    if let Err(missing) = append(&mut bits, piece, around) {
                        return Self::Missing(missing);
                    }
                }
                if bits.iter().all(Option::is_none) {
                    return Self::Missing(Missing::Gone);
                }
                Self::Pieced { bytes: bits.chunks_exact(8).map(byte).collect(), start: 0 }
            }
        }
    }
}

/// Appends the bits of a piece, lowest first; none for what is not kept.
fn append(
    bits: &mut Vec<Option<bool>>,
    piece: &Piece<Reader>,
    around: &dyn Surroundings,
) -> Result<(), Missing> {
    const TOO_LARGE: Missing = Missing::Unsupported("a value in very large pieces");
    let skipped = usize::try_from(piece.bit_offset.unwrap_or_default()).map_err(|_| TOO_LARGE)?;
    let wanted = piece.size_in_bits.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    if wanted.unwrap_or_default().saturating_add(skipped).saturating_add(bits.len()) as u64 > MOST_PIECED * 8
    {
        return Err(TOO_LARGE);
    }
    let source: Option<Vec<u8>> = match piece.location {
        Location::Register { register } => around.register(register.0).map(|value| {
            // General registers have 8 bytes, vector registers 16.
            value.to_le_bytes()[..if register.0 < 17 { 8 } else { 16 }].to_vec()
        }),
        Location::Address { address } => {
            let size = wanted.unwrap_or_default().saturating_add(skipped).div_ceil(8);
            let mut bytes = vec![0; size];
            if !around.memory().read(address, &mut bytes) {
                return Err(Missing::Unreadable(address));
            }
            Some(bytes)
        }
        Location::Value { value } => Some(bytes_of(value)),
        Location::Bytes { value } => Some(value.slice().to_vec()),
        _ => None,
    };
    let Some(source) = source else {
        bits.extend(std::iter::repeat_n(None, wanted.unwrap_or_default()));
        return Ok(());
    };
    let all = source.iter().flat_map(|byte| (0..8).map(move |bit| Some(byte >> bit & 1 == 1)));
    let padded = all.skip(skipped).chain(std::iter::repeat(None));
    let rest = (source.len() * 8).saturating_sub(skipped);
    bits.extend(padded.take(wanted.unwrap_or(rest)));
    Ok(())
}

fn bytes_of(value: gimli::Value) -> Vec<u8> {
    use gimli::Value;
    match value {
        Value::I8(value) => value.to_le_bytes().to_vec(),
        Value::U8(value) => value.to_le_bytes().to_vec(),
        Value::I16(value) => value.to_le_bytes().to_vec(),
        Value::U16(value) => value.to_le_bytes().to_vec(),
        Value::I32(value) => value.to_le_bytes().to_vec(),
        Value::U32(value) => value.to_le_bytes().to_vec(),
        Value::I64(value) => value.to_le_bytes().to_vec(),
        Value::Generic(value) | Value::U64(value) => value.to_le_bytes().to_vec(),
        Value::F32(value) => value.to_le_bytes().to_vec(),
        Value::F64(value) => value.to_le_bytes().to_vec(),
    }
}

fn byte(bits: &[Option<bool>]) -> Option<u8> {
    bits.iter().rev().try_fold(0, |byte, bit| Some(byte << 1 | u8::from((*bit)?)))
}
