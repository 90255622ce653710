//! The places at which the C library has called a function that was registered for the end of the process, and looks
//! for the next one.
//!
//! The function that does so has no name outside. So it is found as one that `exit` calls; its calls through a register
//! are those of the registered functions. Before the first one it has the thread's own variables destroyed.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};

use crate::layout::module::Module;
use crate::libraries::effects::{Effects, effects};
use crate::os::{Tid, memory};

/// Destroys the thread's own variables.
const OF_THREAD: &str = "__call_tls_dtors";

/// The addresses of the instructions behind such calls, in a library in the memory of a process, sorted.
pub(crate) fn looks_again_at(process: Tid, library: &Module) -> Vec<u64> {
    let bias = library.mapped.bias;
    let calls_some = |name: &str| matches!(effects(name), Effects::EndsProcess | Effects::CallsAtExit { .. });
    let named = library.image.symbols_where(calls_some);
    let named: Vec<u64> = named.into_iter().map(|symbol| symbol.address + bias).collect();
    let of_thread = library.image.symbol(OF_THREAD).map(|address| address + bias);
    let mut functions = named.clone();
    for function in named {
        let code = instructions(process, library, function);
        functions.extend(code.iter().filter(|code| is_direct(code)).map(Instruction::near_branch_target));
    }
    functions.retain(|function| Some(*function) != of_thread);
    functions.sort_unstable();
    functions.dedup();
    let calls_registered = |code: &Instruction| {
        let is_by_register = code.is_call_near_indirect() && code.op0_kind() == OpKind::Register;
        is_by_register || code.is_call_near() && Some(code.near_branch_target()) == of_thread
    };
    let mut found: Vec<u64> = Vec::new();
    for function in functions {
        let code = instructions(process, library, function);
        found.extend(code.iter().filter(|code| calls_registered(code)).map(Instruction::next_ip));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether an instruction leads to one other function, if it leads to any.
fn is_direct(code: &Instruction) -> bool {
    code.is_call_near() || code.flow_control() == FlowControl::UnconditionalBranch
}

/// The instructions of a function that begins at this address; none where it is not known where it ends.
pub(super) fn instructions(process: Tid, library: &Module, function: u64) -> Vec<Instruction> {
    let bias = library.mapped.bias;
    let known = library.image.function_at(function.wrapping_sub(bias));
    let Some(range) = known.map(|known| known.range).filter(|range| range.start + bias == function) else {
        return Vec::new();
    };
    let mut code = vec![0; (range.end - range.start) as usize];
    if !memory::read(process, function, &mut code) {
        return Vec::new();
    }
    Decoder::with_ip(64, &code, function, DecoderOptions::NONE).iter().collect()
}
