//! The vector and mask registers of a stopped thread.

use std::arch::x86_64::__cpuid_count;
use std::io;

use super::{Tid, ptrace};

/// The extended state of a thread, in the processor's standard format.
pub(crate) struct Vectors {
    area: Vec<u8>,
}

/// Offset of the lower 16 bytes of the first 16 vector registers.
const XMM: usize = 160;

/// Offset of the bits by which the kernel tells the components that the area has.
const COMPONENTS: usize = 464;

/// A part of the extended state: the component that holds it, and its number of bytes for each register.
#[derive(Clone, Copy)]
struct Component {
    number: u32,
    size: usize,
}

/// Bytes 16 to 31 of the first 16 vector registers.
const YMM_HIGH: Component = Component { number: 2, size: 16 };
const MASKS: Component = Component { number: 5, size: 8 };
/// Bytes 32 to 63 of the first 16 vector registers.
const ZMM_HIGH: Component = Component { number: 6, size: 32 };
/// All of the other 16.
const ZMM_OTHERS: Component = Component { number: 7, size: 64 };

impl Vectors {
    /// Those of a stopped thread.
    pub(crate) fn of(tid: Tid) -> io::Result<Self> {
        ptrace::extended_state(tid).map(|area| Self { area })
    }

    /// The contents of a vector register; the bytes that the processor does not have are 0.
    pub(crate) fn vector(&self, number: usize) -> Option<[u8; 64]> {
        let mut bytes = [0; 64];
        if let Some(other) = number.checked_sub(16) {
            bytes.copy_from_slice(self.part(ZMM_OTHERS, other)?);
            return Some(bytes);
        }
        bytes[..16].copy_from_slice(self.area.get(XMM + 16 * number..XMM + 16 * (number + 1))?);
        if let Some(part) = self.part(YMM_HIGH, number) {
            bytes[16..32].copy_from_slice(part);
        }
        if let Some(part) = self.part(ZMM_HIGH, number) {
            bytes[32..].copy_from_slice(part);
        }
        Some(bytes)
    }

    /// The contents of a mask register.
    pub(crate) fn mask(&self, number: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.part(MASKS, number)?.try_into().ok()?))
    }

    fn part(&self, component: Component, index: usize) -> Option<&[u8]> {
        let present = self.area.get(COMPONENTS..COMPONENTS + 8)?;
        let present = u64::from_le_bytes(present.try_into().ok()?);
        if present >> component.number & 1 == 0 {
            return None;
        }
        // The leaf that tells where each component is; it is there wherever the kernel knows this format.
        let start = __cpuid_count(0xd, component.number).ebx as usize + index * component.size;
        self.area.get(start..start + component.size)
    }
}
