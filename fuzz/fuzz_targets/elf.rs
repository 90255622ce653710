//! Executables: headers, symbols, line tables, and debug information.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tests::foreign::elf(bytes));
