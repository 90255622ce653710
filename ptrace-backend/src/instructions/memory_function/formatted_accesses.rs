//! The memory that a call of `printf` and its kin reads and writes, told by its format.

use std::iter::Peekable;

use smallvec::SmallVec;

use super::formatted::{Formatted, Into};
use super::text::StringScanner;
use crate::instructions::machine::Machine;
use crate::instructions::memory_access::{Accesses, MemoryAccess};

/// A longer format is looked at no further.
const LONGEST: u64 = 4096;

/// The text of a floating-point number is not worked out: so many characters or fewer.
const NUMBER: u64 = 32;

const POINTER: u64 = 8;

impl Formatted {
    /// The bytes that a call touches: the format, the strings that it names, and what it puts into its buffer.
    pub(super) fn accesses(self, machine: &impl Machine) -> Accesses {
        let text = StringScanner { machine, unit: 1 };
        let regs = machine.registers();
        let argument = |n: u8| [regs.rdi, regs.rsi, regs.rdx, regs.rcx, regs.r8, regs.r9][usize::from(n)];
        let at = argument(self.format);
        let size = text.at_most(at, LONGEST);
        let mut format = vec![0; size as usize];
        let mut found = Accesses::new();
        if size == 0 || !machine.read(at, &mut format) {
            return found;
        }
        found.push(MemoryAccess { addr: at, len: size, read: true, write: false });
        let mut arguments = if self.list {
            Arguments::of_list(machine, argument(self.format + 1))
        } else {
            Arguments::of_call(machine, self.format + 1)
        };
        let length = written(&format, &text, &mut arguments, &mut found);
        if let Some(into) = self.into {
            let text = length.saturating_add(1);
            let len = match into {
                Into::Bounded => text.min(argument(1)),
                Into::Unbounded => text,
                Into::Allocated => POINTER,
            };
            found.push(MemoryAccess { addr: argument(0), len, read: false, write: true });
        }
        found.retain(|access| access.len > 0);
        found
    }
}

/// Goes through a format; returns how many characters come of it, and adds the strings that are read.
fn written<M: Machine>(
    format: &[u8],
    text: &StringScanner<'_, M>,
    arguments: &mut Arguments<'_, M>,
    found: &mut Accesses,
) -> u64 {
    let mut length = 0_u64;
    let mut rest = format.iter().copied().take_while(|&c| c != 0).peekable();
    while let Some(c) = rest.next() {
        if c != b'%' {
            length += 1;
            continue;
        }
        while rest.next_if(|c| b"-+ #0'I".contains(c)).is_some() {}
        let width = number(&mut rest, arguments);
        let precision = rest.next_if_eq(&b'.').map(|_| number(&mut rest, arguments));
        let mut modifiers: SmallVec<[u8; 2]> = SmallVec::new();
        while let Some(modifier) = rest.next_if(|c| b"hlqjztL".contains(c)) {
            modifiers.push(modifier);
        }
        let is_long = modifiers.iter().any(|c| b"lqjzt".contains(c));
        let Some(conversion) = rest.next() else { break };
        let own = match conversion {
            b'd' | b'i' => {
                let value = arguments.next();
                let value = if is_long { value.cast_signed() } else { i64::from(value as i32) };
                (value.to_string().len() as u64).max(precision.unwrap_or(0))
            }
            b'u' | b'x' | b'X' | b'o' | b'p' => {
                let value = arguments.next();
                let value = if is_long || conversion == b'p' { value } else { u64::from(value as u32) };
                let digits = match conversion {
                    b'u' => value.to_string(),
                    b'o' => format!("{value:o}"),
                    _ => format!("0x{value:x}"),
                };
                (digits.len() as u64).max(precision.unwrap_or(0))
            }
            b'c' => {
                arguments.next();
                1
            }
            b's' if !is_long => {
                let at = arguments.next();
                let most = precision.unwrap_or(u64::MAX);
                found.push(MemoryAccess { addr: at, len: text.at_most(at, most), read: true, write: false });
                text.length(at, most)
            }
            b'n' => {
                let addr = arguments.next();
                let len = if is_long { 8 } else { 4 };
                found.push(MemoryAccess { addr, len, read: false, write: true });
                0
            }
            b'%' => 1,
            b'm' => NUMBER,
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' if !modifiers.contains(&b'L') => {
                NUMBER.max(precision.unwrap_or(0) + NUMBER)
            }
            // The place of the next argument is not known any more.
            _ => return length.saturating_add(NUMBER),
        };
        length = length.saturating_add(own.max(width));
    }
    length
}

/// A width or a precision: a number of the format, or an argument.
fn number<M: Machine>(
    rest: &mut Peekable<impl Iterator<Item = u8>>,
    arguments: &mut Arguments<'_, M>,
) -> u64 {
    if rest.next_if_eq(&b'*').is_some() {
        return arguments.next() & u64::from(u32::MAX);
    }
    let mut value = 0_u64;
    while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
        value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    }
    value
}

/// The source of the next argument that is no floating-point number.
pub(super) struct Arguments<'m, M> {
    machine: &'m M,
    /// Those in registers, the next one last.
    registers: Vec<u64>,
    /// The address at which those on the stack go on.
    stack: u64,
}

impl<'m, M: Machine> Arguments<'m, M> {
    /// Those of a call from the argument of this number on, of a thread that stands before the call.
    pub(super) fn of_call(machine: &'m M, first: u8) -> Self {
        let regs = machine.registers();
        let all = [regs.rdi, regs.rsi, regs.rdx, regs.rcx, regs.r8, regs.r9];
        let registers = all.iter().skip(usize::from(first)).rev().copied().collect();
        Self { machine, registers, stack: regs.rsp }
    }

    /// Those of a `va_list` at an address.
    pub(super) fn of_list(machine: &'m M, list: u64) -> Self {
        const IN_REGISTERS: u32 = 48;
        let mut arguments = Self { machine, registers: Vec::new(), stack: 0 };
        let offset = arguments.word(list) as u32;
        let saved = arguments.word(list.wrapping_add(16));
        let places = (offset..IN_REGISTERS).step_by(8).map(|offset| saved.wrapping_add(offset.into()));
        let values: Vec<u64> = places.map(|at| arguments.word(at)).collect();
        arguments.registers = values.into_iter().rev().collect();
        arguments.stack = arguments.word(list.wrapping_add(8));
        arguments
    }

    pub(super) fn next(&mut self) -> u64 {
        if let Some(value) = self.registers.pop() {
            return value;
        }
        let value = self.word(self.stack);
        self.stack = self.stack.wrapping_add(8);
        value
    }

    fn word(&self, at: u64) -> u64 {
        let mut bytes = [0; 8];
        if self.machine.read(at, &mut bytes) { u64::from_le_bytes(bytes) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libc::user_regs_struct;

    /// Registers, and memory that begins at 0x1000.
    struct Thread(user_regs_struct, Vec<u8>);

    impl Machine for Thread {
        fn registers(&self) -> &user_regs_struct {
            &self.0
        }

        fn read(&self, addr: u64, into: &mut [u8]) -> bool {
            let start = addr.wrapping_sub(0x1000) as usize;
            let Some(bytes) = self.1.get(start..start.saturating_add(into.len())) else { return false };
            into.copy_from_slice(bytes);
            true
        }
    }

    fn check(name: &str, format: &str, arguments: &[u64], expected: &[(u64, u64, bool)]) {
        let mut memory = vec![0; 0x1000];
        memory[..format.len()].copy_from_slice(format.as_bytes());
        memory[0x800..0x805].copy_from_slice(b"seven");
        // SAFETY: all members are plain numbers.
        let mut regs: user_regs_struct = unsafe { std::mem::zeroed() };
        let all = [&mut regs.rdi, &mut regs.rsi, &mut regs.rdx, &mut regs.rcx, &mut regs.r8, &mut regs.r9];
        for (register, value) in all.into_iter().zip(arguments) {
            *register = *value;
        }
        let found = Formatted::named(name).unwrap().accesses(&Thread(regs, memory));
        let found: Vec<_> = found.iter().map(|access| (access.addr, access.len, access.write)).collect();
        assert_eq!(found, expected, "{name} {format}");
    }

    #[test]
    fn strings_are_read_and_buffers_are_written_as_far_as_the_text_goes() {
        check("printf", "%d %s\n", &[0x1000, 7, 0x1800], &[(0x1000, 7, false), (0x1800, 6, false)]);
        check("printf", "%.3s", &[0x1000, 0x1800], &[(0x1000, 5, false), (0x1800, 3, false)]);
        let buffer = 0x2000;
        check("snprintf", "%d", &[buffer, 64, 0x1000, 1234], &[(0x1000, 3, false), (buffer, 5, true)]);
        check("snprintf", "%5d", &[buffer, 4, 0x1000, 12], &[(0x1000, 4, false), (buffer, 4, true)]);
        check("sprintf", "%*d%%", &[buffer, 0x1000, 6, 12], &[(0x1000, 6, false), (buffer, 8, true)]);
        check(
            "__snprintf_chk",
            "<%s>",
            &[buffer, 64, 1, 64, 0x1000, 0x1800],
            &[(0x1000, 5, false), (0x1800, 6, false), (buffer, 8, true)],
        );
    }
}
