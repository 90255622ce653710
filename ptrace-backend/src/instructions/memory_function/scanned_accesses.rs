//! The memory that a call of `sscanf` and its kin reads and may write, told by its format.

use super::formatted_accesses::{Arguments, place};
use super::scanned::Scanned;
use super::text::StringScanner;
use crate::instructions::machine::Machine;
use crate::instructions::memory_access::{Accesses, MemoryAccess};

/// A longer format is looked at no further.
const LONGEST: u64 = 4096;

impl Scanned {
    /// The bytes that a call touches: string and format, and all that the format says would be written.
    pub(super) fn accesses(self, machine: &impl Machine) -> Accesses {
        let text = StringScanner { machine, unit: 1 };
        let (from, at, list) = (machine.registers().rdi, machine.registers().rsi, machine.registers().rdx);
        let (length, size) = (text.string(from), text.at_most(at, LONGEST));
        let mut format = vec![0; size as usize];
        let mut found = Accesses::new();
        if size == 0 || !machine.read(at, &mut format) {
            return found;
        }
        let read = |addr, len| MemoryAccess { addr, len, read: true, write: false };
        found.extend([read(from, length), read(at, size)]);
        const FIRST: u8 = 2;
        let mut arguments =
            if self.list { Arguments::of_list(machine, list) } else { Arguments::of_call(machine, FIRST) };
        let end = format.iter().position(|&c| c == 0).unwrap_or(format.len());
        for len in written(&format[..end], length) {
            found.push(MemoryAccess { addr: arguments.next(), len, read: false, write: true });
        }
        found.retain(|access| access.len > 0);
        found
    }
}

/// Number of bytes that go to each of the pointers that follow a format, from a string of so many characters with its
/// end. Conversions take them in turn, or name them by their numbers (`%2$d`).
fn written(format: &[u8], longest: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(c) = rest.next() {
        if c != b'%' {
            continue;
        }
        let named = place(&mut rest);
        let is_skipped = rest.next_if_eq(&b'*').is_some();
        let mut width = None;
        while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
            width = Some(u64::from(digit - b'0') + 10 * width.unwrap_or(0_u64).min(LONGEST));
        }
        let mut modifiers = Vec::new();
        while let Some(modifier) = rest.next_if(|c| b"hlqjztLm".contains(c)) {
            modifiers.push(modifier);
        }
        let is_long = modifiers.iter().any(|c| b"lqjztL".contains(c));
        let halves = modifiers.iter().filter(|&&c| c == b'h').count();
        let characters = |ended: u64| width.map_or(longest, |width| longest.min(width + ended));
        let unit = if is_long { 4 } else { 1 };
        let Some(conversion) = rest.next() else { break };
        let len = match conversion {
            b'%' => continue,
            // The set ends with the first bracket that is not its first character.
            b'[' => {
                rest.next_if_eq(&b'^');
                rest.next_if_eq(&b']');
                while rest.next().is_some_and(|c| c != b']') {}
                characters(1) * unit
            }
            _ if modifiers.contains(&b'm') => 8,
            b's' => characters(1) * unit,
            b'c' => width.unwrap_or(1) * unit,
            b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' => match () {
                () if modifiers.contains(&b'L') => 16,
                () if is_long => 8,
                () => 4,
            },
            b'p' => 8,
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'n' => match halves {
                _ if is_long => 8,
                0 => 4,
                1 => 2,
                _ => 1,
            },
            // The place of the next argument is not known any more.
            _ => break,
        };
        if is_skipped {
            continue;
        }
        let nth = named.unwrap_or(found.len());
        found.resize(found.len().max(nth + 1), 0);
        found[nth] = len.max(found[nth]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_say_how_much_they_write() {
        let written = |format: &str| written(format.as_bytes(), 10);
        assert_eq!(written("%d %ld,%hd%hhu%%%n"), [4, 8, 2, 1, 4]);
        assert_eq!(written("%f%lf%Lf %p"), [4, 8, 16, 8]);
        assert_eq!(written("%s %3s %c%2c"), [10, 4, 1, 2]);
        assert_eq!(written("%*d%[^]a]%5[0-9]x%i"), [10, 6, 4]);
        assert_eq!(written("%ms%ls"), [8, 40]);
        assert_eq!(written("%2$hd%1$d"), [4, 2]);
    }
}
