//! Puts together the code of one stub.

use iced_x86::{Encoder, IcedError, Instruction};

/// Progress of a thread through the original instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// It has not begun.
    Before,
    /// The call at this address has pushed its return address.
    Pushed(u64),
    /// It is done, and control has gone to this address.
    Done(u64),
    /// The instruction at this address is about to run, and the two registers that take it down have been saved ([`crate::instructions::detour`]).
    Saved(u64),
}

/// Code that grows at a fixed address.
pub(super) struct Stub {
    start: u64,
    code: Vec<u8>,
    /// Constants that instructions refer to, placed behind the code: the offset of the displacement, and the constant.
    constants: Vec<(usize, u64)>,
    progress: Vec<(usize, Progress)>,
}

impl Stub {
    pub(super) fn new(start: u64) -> Self {
        Self { start, code: Vec::new(), constants: Vec::new(), progress: vec![(0, Progress::Before)] }
    }

    /// The address of what comes next.
    pub(super) fn here(&self) -> u64 {
        self.start.wrapping_add(self.code.len() as u64)
    }

    /// From here on a thread has got this far.
    pub(super) fn mark(&mut self, progress: Progress) {
        self.progress.push((self.code.len(), progress));
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    pub(super) fn encode(&mut self, instruction: &Instruction) -> Result<(), IcedError> {
        let mut encoder = Encoder::new(64);
        encoder.encode(instruction, self.here())?;
        self.code.append(&mut encoder.take_buffer());
        Ok(())
    }

    /// Number of bytes, constants not counted.
    pub(super) fn len(&self) -> usize {
        self.code.len()
    }

    /// Makes the short branch that ends at the offset `branch` lead here.
    pub(super) fn land(&mut self, branch: usize) {
        let distance = self.code.len() - branch;
        self.code[branch - 1] =
            u8::try_from(distance).expect("only one jump of at most 6 bytes lies between");
    }

    /// Pushes a constant, whose upper half an immediate operand could not hold.
    pub(super) fn push(&mut self, value: u64) {
        self.with_constant([0xff, 0x35], value);
    }

    /// Jumps anywhere.
    pub(super) fn jump(&mut self, target: u64) {
        let distance = target.wrapping_sub(self.here().wrapping_add(5)).cast_signed();
        if let Ok(near) = i32::try_from(distance) {
            self.code.push(0xe9);
            self.bytes(&near.to_le_bytes());
        } else {
            self.with_constant([0xff, 0x25], target);
        }
    }

    /// The code, with the constants behind it.
    pub(super) fn finish(mut self) -> (Vec<u8>, Vec<(usize, Progress)>) {
        for (field, value) in std::mem::take(&mut self.constants) {
            let distance = (self.code.len() - field - 4) as u32;
            self.code[field..field + 4].copy_from_slice(&distance.to_le_bytes());
            self.bytes(&value.to_le_bytes());
        }
        (self.code, self.progress)
    }

    fn with_constant(&mut self, opcode: [u8; 2], value: u64) {
        self.bytes(&opcode);
        self.constants.push((self.code.len(), value));
        self.bytes(&[0; 4]);
    }
}
