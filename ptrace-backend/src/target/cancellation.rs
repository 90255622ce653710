//! The place at which the C library looks, at a cancellation point, whether the thread is cancelled.
//!
//! All its calls that are cancellation points have one function do that, which has no name outside. So it is found as
//! the first one that a certain cancellation point calls, by the word that it reads: debuggers are told the place of
//! that word.

use iced_x86::{Decoder, DecoderOptions, Instruction};

use crate::layout::module::Module;
use crate::os::{Tid, memory};

/// It does one system call, and is a cancellation point.
const POINT: &str = "fsync";

/// Describes the word: its size in bits, how many there are, and its offset in what the thread's handle points to.
const WORD: &str = "_thread_db_pthread_cancelhandling";
const OFFSET: u64 = 8;

/// Number of calls that lead there: one, or since glibc 2.41 two.
const CALLS: usize = 2;

/// The address of that function, in a library in the memory of a process. `None`: it is done in another way there.
pub(crate) fn looks_at(process: Tid, library: &Module) -> Option<u64> {
    let address = |name| library.image.symbol(name).map(|address| address + library.mapped.bias);
    let word = memory::number(process, address(WORD)? + OFFSET, 4)?;
    let callee = |function: &u64| {
        let mut code = instructions(process, *function).into_iter();
        code.find(Instruction::is_call_near).map(|call| call.near_branch_target())
    };
    let called = std::iter::successors(callee(&address(POINT)?), callee).take(CALLS);
    let reads = |function: &u64| {
        let code = instructions(process, *function).into_iter();
        let mut own = code.take_while(|instruction| !instruction.is_call_near());
        own.any(|instruction| instruction.memory_displacement64() == word)
    };
    called.into_iter().find(reads)
}

/// The first instructions of a function, and what follows it.
fn instructions(process: Tid, function: u64) -> Vec<Instruction> {
    const LEN: usize = 96;
    let mut code = [0; LEN];
    if !memory::read(process, function, &mut code) {
        return Vec::new();
    }
    Decoder::with_ip(64, &code, function, DecoderOptions::NONE).iter().collect()
}
