//! Loops of a function in which a thread may wait for memory to change: those that count nothing.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use crate::attention;

/// The instructions of a function, with the ones that control goes to from each.
struct Graph {
    addresses: Vec<u64>,
    next: Vec<[Option<usize>; 2]>,
}

/// The addresses of instructions that are in a circle of instructions none of which adds a constant to anything: a
/// thread may go round there for as long as memory stays as it is. Jumps whose target is computed are not followed.
#[must_use]
pub(super) fn waiting_places(code: &[u8], start: u64) -> Vec<u64> {
    let graph = Graph::of(code, start);
    let components = graph.components();
    let mut places = Vec::new();
    for component in components {
        let is_circle = match component[..] {
            [one] => graph.next[one].contains(&Some(one)),
            _ => true,
        };
        places.extend(component.into_iter().filter(|_| is_circle).map(|nth| graph.addresses[nth]));
    }
    places.sort_unstable();
    places
}

impl Graph {
    fn of(code: &[u8], start: u64) -> Self {
        let instructions: Vec<Instruction> = Decoder::with_ip(64, code, start, DecoderOptions::NONE)
            .into_iter()
            .inspect(|_| attention::round())
            .take_while(|instruction| !instruction.is_invalid())
            .collect();
        let addresses: Vec<u64> = instructions.iter().map(Instruction::ip).collect();
        let function = start..start.wrapping_add(code.len() as u64);
        let next = instructions.iter().enumerate().map(|(nth, instruction)| {
            if counts(instruction) {
                return [None, None];
            }
            let behind = falls_through(instruction).then_some(nth + 1).filter(|&nth| nth < addresses.len());
            let target = target(instruction, &function).and_then(|to| addresses.binary_search(&to).ok());
            [behind, target]
        });
        let next = next.collect();
        Self { addresses, next }
    }

    /// The strongly connected components (Tarjan, SIAM Journal on Computing 1972), without recursion: functions are long.
    fn components(&self) -> Vec<Vec<usize>> {
        const NEW: usize = usize::MAX;
        let count = self.next.len();
        let (mut order, mut low, mut on_stack) = (vec![NEW; count], vec![NEW; count], vec![false; count]);
        let (mut stack, mut found, mut time) = (Vec::new(), Vec::new(), 0);
        for root in 0..count {
            let mut path: Vec<(usize, usize)> = Vec::new();
            if order[root] == NEW {
                path.push((root, 0));
            }
            while let Some((node, edge)) = path.last_mut() {
                attention::round();
                let node = *node;
                if *edge == 0 && order[node] == NEW {
                    (order[node], low[node], on_stack[node]) = (time, time, true);
                    time += 1;
                    stack.push(node);
                }
                if let Some(next) = self.next[node].get(*edge).copied() {
                    *edge += 1;
                    match next {
                        Some(next) if order[next] == NEW => path.push((next, 0)),
                        Some(next) if on_stack[next] => low[node] = low[node].min(order[next]),
                        _ => {}
                    }
                    continue;
                }
                path.pop();
                if let Some(&(before, _)) = path.last() {
                    low[before] = low[before].min(low[node]);
                }
                if low[node] == order[node] {
                    let at = stack.iter().rposition(|&other| other == node).unwrap_or(0);
                    let component = stack.split_off(at);
                    component.iter().for_each(|&member| on_stack[member] = false);
                    found.push(component);
                }
            }
        }
        found
    }
}

/// Whether it adds a constant to a register other than the stack pointer, or to memory: then it never leaves all as it was.
fn counts(instruction: &Instruction) -> bool {
    let constant = || {
        let is_constant = |operand: u32| {
            !matches!(instruction.op_kind(operand), OpKind::Register | OpKind::Memory)
                && instruction.immediate(operand) != 0
        };
        instruction.op_count() == 2 && is_constant(1)
    };
    let is_stack =
        || instruction.op0_kind() == OpKind::Register && instruction.op0_register() == Register::RSP;
    match instruction.mnemonic() {
        Mnemonic::Add | Mnemonic::Sub => constant() && !is_stack(),
        Mnemonic::Inc | Mnemonic::Dec => true,
        Mnemonic::Lea => {
            instruction.memory_base() == instruction.op0_register()
                && instruction.memory_index() == Register::None
                && instruction.memory_displacement64() != 0
                && !is_stack()
        }
        _ => false,
    }
}

fn falls_through(instruction: &Instruction) -> bool {
    !matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch | FlowControl::Return
    )
}

fn target(instruction: &Instruction, function: &Range<u64>) -> Option<u64> {
    let is_jump = matches!(
        instruction.flow_control(),
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
    );
    let target = || instruction.near_branch_target();
    (is_jump && instruction.op0_kind() == OpKind::NearBranch64)
        .then(target)
        .filter(|to| function.contains(to))
}

#[cfg(test)]
mod tests {
    use iced_x86::code_asm::{CodeAssembler, dword_ptr, eax, ecx};

    use super::*;

    fn places(write: impl FnOnce(&mut CodeAssembler)) -> Vec<u64> {
        let mut code = CodeAssembler::new(64).unwrap();
        write(&mut code);
        waiting_places(&code.assemble(0x1000).unwrap(), 0x1000)
    }

    #[test]
    fn a_thread_may_wait_in_a_loop_that_counts_nothing() {
        let found = places(|code| {
            let mut again = code.create_label();
            code.nop().unwrap();
            code.set_label(&mut again).unwrap();
            code.mov(eax, dword_ptr(0x5000)).unwrap();
            code.test(eax, eax).unwrap();
            code.je(again).unwrap();
            code.ret().unwrap();
        });
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found.first(), Some(&0x1001));
    }

    #[test]
    fn nobody_waits_where_every_round_counts() {
        let found = places(|code| {
            let mut again = code.create_label();
            code.set_label(&mut again).unwrap();
            code.mov(eax, dword_ptr(0x5000)).unwrap();
            code.add(ecx, 1).unwrap();
            code.cmp(ecx, 10).unwrap();
            code.jne(again).unwrap();
            code.ret().unwrap();
        });
        assert_eq!(found, [0; 0]);
    }

    #[test]
    fn one_way_round_that_counts_nothing_is_enough() {
        let found = places(|code| {
            let (mut again, mut none) = (code.create_label(), code.create_label());
            code.set_label(&mut again).unwrap();
            code.test(eax, eax).unwrap();
            code.je(none).unwrap();
            code.inc(ecx).unwrap();
            code.set_label(&mut none).unwrap();
            code.mov(eax, dword_ptr(0x5000)).unwrap();
            code.jmp(again).unwrap();
        });
        // All but the one that counts.
        assert_eq!(found.len(), 4);
    }
}
