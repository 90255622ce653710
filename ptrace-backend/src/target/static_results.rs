//! The memory of the C library in which functions leave what they return (`gmtime`, `asctime`): each call writes over the result of the
//! one before.
//!
//! Such memory has no name outside of the library. A function hands its address on to the one that does the work, so that it stands
//! among the few instructions of the function.

use std::ops::Range;

use iced_x86::{Mnemonic, OpKind};

use crate::layout::module::Module;
use crate::os::Tid;
use crate::target::exit_handlers::instructions;

/// The functions that hand on such an address, and the length of the result in bytes.
const RESULTS: &[(&str, u64)] = &[("gmtime", BROKEN_DOWN), ("localtime", BROKEN_DOWN), ("asctime", DATE)];

/// The size of a `struct tm`.
const BROKEN_DOWN: u64 = 56;

/// The room for a date as text.
const DATE: u64 = 114;

/// The memory that a function of this name leaves its result in, in a library in the memory of a process. `None`: it is one that does,
/// and the memory was not found.
pub(crate) fn of(process: Tid, library: &Module, name: &str) -> Option<Vec<Range<u64>>> {
    let names: &[&str] = match name {
        "gmtime" | "localtime" | "asctime" => &[name],
        "ctime" => &["localtime", "asctime"],
        _ => return Some(Vec::new()),
    };
    names.iter().map(|name| handed_on(process, library, name)).collect()
}

fn handed_on(process: Tid, library: &Module, name: &str) -> Option<Range<u64>> {
    /// More instructions than these do more than hand on.
    const MOST: usize = 8;
    let bias = library.mapped.bias;
    let (_, len) = RESULTS.iter().find(|(function, _)| *function == name)?;
    let code = instructions(process, library, library.image.symbol(name)? + bias);
    let constants = library.image.constants();
    let is_constant =
        |address: u64| constants.iter().any(|range| range.contains(&address.wrapping_sub(bias)));
    let addresses = code.iter().filter(|code| {
        code.mnemonic() == Mnemonic::Lea
            && code.op1_kind() == OpKind::Memory
            && code.is_ip_rel_memory_operand()
    });
    let mut addresses = addresses.map(|code| code.ip_rel_memory_address());
    let address = addresses.next().filter(|address| library.mapped.range.contains(address))?;
    let is_alone = code.len() <= MOST && addresses.next().is_none() && !is_constant(address);
    is_alone.then_some(address..address + len)
}
