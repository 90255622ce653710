//! DWARF expressions in unwinding tables.

use gimli::{Encoding, EvaluationResult, Expression, Value};

use super::dwarf::Reader;
use super::unwind::{Memory, Registers};

/// Evaluates an expression of an unwinding table; `start` is what the stack begins with (the CFA for register rules).
pub(super) fn evaluate(
    expression: Expression<Reader>,
    encoding: Encoding,
    start: Option<u64>,
    registers: &Registers,
    memory: &dyn Memory,
) -> Option<u64> {
    let mut evaluation = expression.evaluation(encoding);
    evaluation.set_max_iterations(10_000);
    if let Some(value) = start {
        evaluation.set_initial_value(value);
    }
    let mut state = evaluation.evaluate().ok()?;
    loop {
        state = match state {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let mut word = [0; 8];
                let wanted = word.get_mut(..usize::from(size))?;
                memory.read(address, wanted).then_some(())?;
                evaluation.resume_with_memory(Value::Generic(u64::from_le_bytes(word))).ok()?
            }
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = registers.get(register.0)?;
                evaluation.resume_with_register(Value::Generic(value)).ok()?
            }
            EvaluationResult::RequiresCallFrameCfa => evaluation.resume_with_call_frame_cfa(start?).ok()?,
            _ => return None,
        };
    }
    evaluation.value_result()?.to_u64(u64::MAX).ok()
}
