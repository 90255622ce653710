//! Addresses of the copies of trapped instructions that run in their stead.
//!
//! A copy is a function of its instruction and of both places ([`crate::instructions::relocate`]), and is made again where it is
//! asked for: a large program has millions of them, of which few are ever passed.

/// The most that a copy takes, in bytes.
pub(crate) const ROOM: u64 = 64;

/// Copies begin at multiples of this, in bytes.
pub(crate) const ALIGNMENT: u64 = 16;

/// The places of the copies.
#[derive(Debug, Default)]
pub(crate) struct Stubs {
    /// The address of each copy and of its instruction, in the order of the copies.
    all: Vec<(u64, u64)>,
}

impl Stubs {
    /// These copies, each with its instruction's address behind its own.
    pub(crate) fn new(mut all: Vec<(u64, u64)>) -> Self {
        all.sort_unstable();
        Self { all }
    }

    /// The address of the instruction whose copy an address may lie in.
    pub(crate) fn around(&self, address: u64) -> Option<u64> {
        let after = self.all.partition_point(|(stub, _)| *stub <= address);
        let (stub, instruction) = *self.all.get(after.checked_sub(1)?)?;
        (address - stub < ROOM).then_some(instruction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_last_copy_that_begins_before_it() {
        let stubs = Stubs::new(vec![(0x130, 3), (0x100, 1), (0x110, 2)]);
        let around = |address| stubs.around(address);
        assert_eq!(
            [0xff, 0x100, 0x10f, 0x110, 0x12f].map(around),
            [None, Some(1), Some(1), Some(2), Some(2)]
        );
        assert_eq!([0x130, 0x16f, 0x170].map(around), [Some(3), Some(3), None]);
    }
}
