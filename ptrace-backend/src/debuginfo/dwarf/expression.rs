//! DWARF expressions: where the caller's registers are, and where a variable is.

use gimli::{
    DebugAddrIndex, DieReference, Encoding, EvaluationResult, Expression, Location, Piece, UnitOffset, Value,
    ValueType,
};

use super::missing::Missing;
use super::reader::Reader;
use crate::debuginfo::memory::Memory;
use crate::debuginfo::registers::Registers;

/// Expressions are short; a damaged one may run in circles.
const MOST_STEPS: u32 = 10_000;

const MALFORMED: Missing = Missing::Unsupported("a malformed expression");

/// The context that an expression may ask for; everything but memory and registers is unknown unless told.
pub(crate) trait Surroundings {
    fn memory(&self) -> &dyn Memory;

    /// The bits of a register, as many as it has.
    fn register(&self, number: u16) -> Option<u128>;

    /// The value that the stack pointer had before the call.
    fn call_frame(&self) -> Option<u64> {
        None
    }

    fn frame_base(&self) -> Result<u64, Missing> {
        Err(Missing::Unsupported("its frame base"))
    }

    /// The run-time address of the calling thread's copy of a thread-local variable.
    fn thread_local(&self, _offset: u64) -> Result<u64, Missing> {
        Err(Missing::Unsupported("thread-local storage"))
    }

    /// The run-time address of a static one.
    fn relocated(&self, _address: u64) -> Option<u64> {
        None
    }

    fn indexed(&self, _index: DebugAddrIndex<usize>, _relocate: bool) -> Option<u64> {
        None
    }

    /// The value that the expression had when the function was entered.
    fn at_entry(&self, _expression: Expression<Reader>) -> Result<Value, Missing> {
        Err(Missing::Gone)
    }

    fn base_type(&self, _entry: UnitOffset) -> Option<ValueType> {
        None
    }

    /// The location expression of an entry.
    fn location_of(&self, _entry: DieReference<usize>) -> Option<Reader> {
        None
    }
}

/// Runs an expression; `start` is what the stack begins with, if anything.
pub(crate) fn run(
    expression: Expression<Reader>,
    encoding: Encoding,
    start: Option<u64>,
    around: &dyn Surroundings,
) -> Result<Vec<Piece<Reader>>, Missing> {
    let mut evaluation = expression.evaluation(encoding);
    evaluation.set_max_iterations(MOST_STEPS);
    if let Some(value) = start {
        evaluation.set_initial_value(value);
    }
    let mut state = evaluation.evaluate().map_err(|_| MALFORMED)?;
    loop {
        let next = match state {
            EvaluationResult::Complete => return Ok(evaluation.result()),
            EvaluationResult::RequiresMemory { address, size, base_type, .. } => {
                evaluation.resume_with_memory(read_typed(address, size, base_type, around)?)
            }
            EvaluationResult::RequiresRegister { register, base_type } => {
                let bits = around.register(register.0).ok_or(Missing::Gone)?;
                evaluation.resume_with_register(typed(bits, base_type, around)?)
            }
            EvaluationResult::RequiresCallFrameCfa => evaluation
                .resume_with_call_frame_cfa(around.call_frame().ok_or(Missing::Unsupported("its frame"))?),
            EvaluationResult::RequiresFrameBase => evaluation.resume_with_frame_base(around.frame_base()?),
            EvaluationResult::RequiresTls(offset) => evaluation.resume_with_tls(around.thread_local(offset)?),
            EvaluationResult::RequiresRelocatedAddress(address) => {
                evaluation.resume_with_relocated_address(around.relocated(address).ok_or(MALFORMED)?)
            }
            EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                evaluation.resume_with_indexed_address(around.indexed(index, relocate).ok_or(MALFORMED)?)
            }
            EvaluationResult::RequiresEntryValue(expression) => {
                evaluation.resume_with_entry_value(around.at_entry(expression)?)
            }
            EvaluationResult::RequiresBaseType(entry) => evaluation
                .resume_with_base_type(around.base_type(entry).ok_or(Missing::Unsupported("a type's size"))?),
            EvaluationResult::RequiresAtLocation(entry) => {
                evaluation.resume_with_at_location(around.location_of(entry).ok_or(Missing::Gone)?)
            }
            _ => return Err(Missing::Unsupported("an expression of another machine")),
        };
        state = next.map_err(|_| MALFORMED)?;
    }
}

/// Reads a value of a base type from memory.
pub(crate) fn read_typed(
    address: u64,
    size: u8,
    base_type: UnitOffset,
    around: &dyn Surroundings,
) -> Result<Value, Missing> {
    let mut word = [0; 16];
    let wanted = word.get_mut(..usize::from(size)).ok_or(MALFORMED)?;
    if !around.memory().read(address, wanted) {
        return Err(Missing::Unreadable(address));
    }
    typed(u128::from_le_bytes(word), base_type, around)
}

/// Bits as a value of a base type; entry 0 stands for a plain word.
fn typed(bits: u128, base_type: UnitOffset, around: &dyn Surroundings) -> Result<Value, Missing> {
    if base_type.0 == 0 {
        return Ok(Value::Generic(bits as u64));
    }
    let kind = around.base_type(base_type).ok_or(Missing::Unsupported("a type's size"))?;
    Ok(match kind {
        ValueType::Generic => Value::Generic(bits as u64),
        ValueType::I8 => Value::I8(bits as i8),
        ValueType::U8 => Value::U8(bits as u8),
        ValueType::I16 => Value::I16(bits as i16),
        ValueType::U16 => Value::U16(bits as u16),
        ValueType::I32 => Value::I32(bits as i32),
        ValueType::U32 => Value::U32(bits as u32),
        ValueType::I64 => Value::I64(bits as i64),
        ValueType::U64 => Value::U64(bits as u64),
        ValueType::F32 => Value::F32(f32::from_bits(bits as u32)),
        ValueType::F64 => Value::F64(f64::from_bits(bits as u64)),
    })
}

/// The result of an expression: an address where the result is a place, else the value.
pub(crate) fn value(pieces: &[Piece<Reader>], around: &dyn Surroundings) -> Result<Value, Missing> {
    match pieces {
        [Piece { location: Location::Address { address }, size_in_bits: None, .. }] => {
            Ok(Value::Generic(*address))
        }
        [Piece { location: Location::Value { value }, size_in_bits: None, .. }] => Ok(*value),
        [Piece { location: Location::Register { register }, size_in_bits: None, .. }] => {
            around.register(register.0).map(|bits| Value::Generic(bits as u64)).ok_or(Missing::Gone)
        }
        _ => Err(Missing::Gone),
    }
}

/// The same as a word.
pub(crate) fn word(pieces: &[Piece<Reader>], around: &dyn Surroundings) -> Result<u64, Missing> {
    value(pieces, around)?.to_u64(u64::MAX).map_err(|_| Missing::Unsupported("a value that is no word"))
}

/// A function's registers and memory, which is all that unwinding tables ask for.
struct Caller<'a> {
    start: Option<u64>,
    registers: &'a Registers,
    memory: &'a dyn Memory,
}

impl Surroundings for Caller<'_> {
    fn memory(&self) -> &dyn Memory {
        self.memory
    }

    fn register(&self, number: u16) -> Option<u128> {
        self.registers.get(number).map(u128::from)
    }

    fn call_frame(&self) -> Option<u64> {
        self.start
    }
}

/// Evaluates an expression of an unwinding table; `start` is what the stack begins with (the CFA for register rules).
pub(crate) fn evaluate(
    expression: Expression<Reader>,
    encoding: Encoding,
    start: Option<u64>,
    registers: &Registers,
    memory: &dyn Memory,
) -> Option<u64> {
    let around = Caller { start, registers, memory };
    word(&run(expression, encoding, start, &around).ok()?, &around).ok()
}
