//! The memory that a call of `printf` and its kin reads and writes, told by its format.

use std::iter::Peekable;

use smallvec::SmallVec;

use super::formatted::{Formatted, Into};
use super::text::StringScanner;
use crate::instructions::machine::Machine;
use crate::instructions::memory_access::{Accesses, MemoryAccess};

/// A longer format is looked at no further.
const LONGEST: u64 = 4096;

/// The text of a floating-point number or of an error is not worked out: so many characters or fewer, but for large numbers.
const NUMBER: u64 = 32;

/// More characters than any floating-point number has, which is what counts where the size of the buffer is known.
const LONGEST_NUMBER: u64 = 5000;

/// Number of bytes of a wide character.
const WIDE: u64 = 4;

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
        let number = if self.into == Some(Into::Bounded) { LONGEST_NUMBER } else { NUMBER };
        let length = written(&format, &text, (&mut arguments, number), &mut found);
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

/// The number of an argument, from 0.
type ArgumentNumber = usize;

/// A number in a conversion: one of the format, or an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Is(u64),
    Argument(ArgumentNumber),
}

/// A part of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// So many characters as they are.
    Plain(u64),
    Conversion {
        width: Number,
        precision: Option<Number>,
        value: Option<(ArgumentNumber, Value)>,
        letter: u8,
    },
}

/// The way in which an argument is passed, and how much of it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Word,
    LongWord,
    Double,
    LongDouble,
}

/// The parts of a format up to its end, or up to what is no known conversion. Conversions take arguments in turn, or name them by their
/// numbers (`%2$d`).
fn parts(format: &[u8]) -> Vec<Part> {
    let mut found = Vec::new();
    let mut rest = format.iter().copied().take_while(|&c| c != 0).peekable();
    let mut next: ArgumentNumber = 0;
    while let Some(c) = rest.next() {
        if c != b'%' {
            found.push(Part::Plain(1));
            continue;
        }
        let named = place(&mut rest);
        while rest.next_if(|c| b"-+ #0'I".contains(c)).is_some() {}
        let width = number(&mut rest, &mut next);
        let precision = rest.next_if_eq(&b'.').map(|_| number(&mut rest, &mut next));
        let mut modifiers: SmallVec<[u8; 2]> = SmallVec::new();
        while let Some(modifier) = rest.next_if(|c| b"hlqjztL".contains(c)) {
            modifiers.push(modifier);
        }
        let is_long = modifiers.iter().any(|c| b"lqjztL".contains(c));
        let word = if is_long { Value::LongWord } else { Value::Word };
        let Some(letter) = rest.next() else { break };
        let value = match letter {
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'n' => Some(word),
            b'p' | b'C' | b'S' => Some(Value::LongWord),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' if modifiers.contains(&b'L') => {
                Some(Value::LongDouble)
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => Some(Value::Double),
            b'%' | b'm' => None,
            // The place of the next argument is not known any more.
            _ => {
                found.push(Part::Plain(NUMBER));
                break;
            }
        };
        let value = value.map(|value| (named.unwrap_or_else(|| take(&mut next)), value));
        found.push(Part::Conversion { width, precision, value, letter });
    }
    found
}

/// The next argument.
fn take(next: &mut ArgumentNumber) -> ArgumentNumber {
    *next += 1;
    *next - 1
}

/// A width or a precision.
fn number(rest: &mut Peekable<impl Iterator<Item = u8> + Clone>, next: &mut ArgumentNumber) -> Number {
    if rest.next_if_eq(&b'*').is_some() {
        return Number::Argument(place(rest).unwrap_or_else(|| take(next)));
    }
    Number::Is(digits(rest))
}

fn digits(rest: &mut Peekable<impl Iterator<Item = u8>>) -> u64 {
    let mut value = 0_u64;
    while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
        value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    }
    value
}

/// The place of an argument that is named by its number, from 1, before a dollar sign.
pub(super) fn place(rest: &mut Peekable<impl Iterator<Item = u8> + Clone>) -> Option<ArgumentNumber> {
    /// The most arguments that the C library takes by their numbers.
    const MOST: u64 = 4096;
    let mut ahead = rest.clone();
    let number = digits(&mut ahead);
    if !(1..=MOST).contains(&number) || ahead.next() != Some(b'$') {
        return None;
    }
    *rest = ahead;
    Some(number as ArgumentNumber - 1)
}

/// Goes through a format; returns how many characters come of it, and adds the strings that are read. A floating-point number has
/// `longest` characters.
fn written<M: Machine>(
    format: &[u8],
    text: &StringScanner<'_, M>,
    (arguments, longest): (&mut Arguments<'_, M>, u64),
    found: &mut Accesses,
) -> u64 {
    let parts = parts(format);
    let arguments = values(&parts, arguments);
    let argument = |place: ArgumentNumber| arguments.get(place).copied().unwrap_or_default();
    let number = |number: Number| match number {
        Number::Is(value) => value,
        Number::Argument(place) => argument(place) & u64::from(u32::MAX),
    };
    let mut length = 0_u64;
    for part in parts {
        let (width, precision, value, letter) = match part {
            Part::Plain(characters) => {
                length = length.saturating_add(characters);
                continue;
            }
            Part::Conversion { width, precision, value, letter } => (width, precision, value, letter),
        };
        let precision = precision.map(number);
        let is_long = value.is_some_and(|(_, value)| value == Value::LongWord);
        let value = value.map(|(place, _)| argument(place)).unwrap_or_default();
        let own = match letter {
            b'd' | b'i' => {
                let value = if is_long { value.cast_signed() } else { i64::from(value as i32) };
                (value.to_string().len() as u64).max(precision.unwrap_or(0))
            }
            b'p' if value == 0 => "(nil)".len() as u64,
            b'u' | b'x' | b'X' | b'o' | b'p' => {
                let value = if is_long { value } else { u64::from(value as u32) };
                let digits = match letter {
                    b'u' => value.to_string(),
                    b'o' => format!("{value:o}"),
                    _ => format!("0x{value:x}"),
                };
                (digits.len() as u64).max(precision.unwrap_or(0))
            }
            b'c' if !is_long => 1,
            b'c' | b'C' => WIDE,
            b's' | b'S' if value == 0 => "(null)".len() as u64,
            b's' | b'S' => {
                let unit = if is_long { WIDE } else { 1 };
                let text = StringScanner { machine: text.machine, unit };
                let most = precision.unwrap_or(u64::MAX);
                let len = text.at_most(value, most);
                found.push(MemoryAccess { addr: value, len, read: true, write: false });
                text.length(value, most)
            }
            b'n' => {
                let len = if is_long { 8 } else { 4 };
                found.push(MemoryAccess { addr: value, len, read: false, write: true });
                0
            }
            b'%' => 1,
            b'm' => 2 * NUMBER,
            _ => longest.saturating_add(precision.unwrap_or(0)),
        };
        length = length.saturating_add(own.max(number(width)));
    }
    length
}

/// The values of the arguments of a format, 0 for floating-point numbers.
fn values<M: Machine>(parts: &[Part], arguments: &mut Arguments<'_, M>) -> Vec<u64> {
    let mut kinds: Vec<Value> = Vec::new();
    let mut note = |place: ArgumentNumber, value: Value| {
        kinds.resize(kinds.len().max(place + 1), Value::Word);
        kinds[place] = value;
    };
    for part in parts {
        let Part::Conversion { width, precision, value, .. } = part else { continue };
        for number in std::iter::once(width).chain(precision) {
            if let Number::Argument(place) = number {
                note(*place, Value::Word);
            }
        }
        if let Some((place, value)) = value {
            note(*place, *value);
        }
    }
    let value = |kind: &Value| match kind {
        Value::Word | Value::LongWord => arguments.next(),
        Value::Double => arguments.skip_double(),
        Value::LongDouble => arguments.skip_long_double(),
    };
    kinds.iter().map(value).collect()
}

/// Number of registers in which floating-point numbers are passed.
const IN_VECTORS: u32 = 8;

/// The source of the next argument.
pub(super) struct Arguments<'m, M> {
    machine: &'m M,
    /// Number of registers that are left for floating-point numbers.
    doubles: u32,
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
        Self { machine, doubles: IN_VECTORS, registers, stack: regs.rsp }
    }

    /// Those of a `va_list` at an address.
    pub(super) fn of_list(machine: &'m M, list: u64) -> Self {
        const IN_REGISTERS: u32 = 48;
        let mut arguments = Self { machine, doubles: 0, registers: Vec::new(), stack: 0 };
        let offset = arguments.machine.word(list) as u32;
        let offset_of_doubles = (arguments.machine.word(list) >> 32) as u32;
        arguments.doubles = (IN_REGISTERS + IN_VECTORS * 16).saturating_sub(offset_of_doubles) / 16;
        let saved = arguments.machine.word(list.wrapping_add(16));
        let places = (offset..IN_REGISTERS).step_by(8).map(|offset| saved.wrapping_add(offset.into()));
        let values: Vec<u64> = places.map(|at| arguments.machine.word(at)).collect();
        arguments.registers = values.into_iter().rev().collect();
        arguments.stack = arguments.machine.word(list.wrapping_add(8));
        arguments
    }

    pub(super) fn next(&mut self) -> u64 {
        if let Some(value) = self.registers.pop() {
            return value;
        }
        let value = self.machine.word(self.stack);
        self.stack = self.stack.wrapping_add(8);
        value
    }

    /// Goes past a `double`.
    fn skip_double(&mut self) -> u64 {
        match self.doubles.checked_sub(1) {
            Some(left) => self.doubles = left,
            None => self.stack = self.stack.wrapping_add(8),
        }
        0
    }

    /// Goes past a `long double`, which is on the stack always, at a multiple of its size.
    fn skip_long_double(&mut self) -> u64 {
        const SIZE: u64 = 16;
        self.stack = self.stack.next_multiple_of(SIZE).wrapping_add(SIZE);
        0
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
        check(
            "snprintf",
            "%2$d%1$s",
            &[buffer, 64, 0x1000, 0x1800, 7],
            &[(0x1000, 9, false), (0x1800, 6, false), (buffer, 7, true)],
        );
        check("snprintf", "%f%s", &[buffer, 4, 0x1000, 0], &[(0x1000, 5, false), (buffer, 4, true)]);
        check("snprintf", "%p%1$s", &[buffer, 64, 0x1000, 0], &[(0x1000, 7, false), (buffer, 12, true)]);
        check("sprintf", "%*d%%", &[buffer, 0x1000, 6, 12], &[(0x1000, 6, false), (buffer, 8, true)]);
        check(
            "__snprintf_chk",
            "<%s>",
            &[buffer, 64, 1, 64, 0x1000, 0x1800],
            &[(0x1000, 5, false), (0x1800, 6, false), (buffer, 8, true)],
        );
    }
}
