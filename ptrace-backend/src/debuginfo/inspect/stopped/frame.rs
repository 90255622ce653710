//! One function that has not returned, as location expressions see it.

use gimli::{
    AttributeValue, DebugAddrIndex, DieReference, Expression, Operation, UnitOffset, Value, ValueType,
};

use super::thread::StoppedThread;
use super::value_location::ValueLocation;
use super::{call_sites, thread_locals};
use crate::debuginfo::dwarf::die::locate;
use crate::debuginfo::dwarf::expression::{self, Surroundings};
use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::dwarf::reader::Reader;
use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::info::Info;
use crate::debuginfo::memory::Memory;

/// Values at entry may depend on the caller's, and those on its caller's; frame bases on nothing of the kind.
const DEEPEST: usize = 16;

/// The context that location expressions of one unit may ask for, in a frame or outside of any.
#[derive(Clone, Copy)]
pub(crate) struct Surrounding<'a> {
    pub(crate) thread: &'a StoppedThread<'a>,
    pub(crate) info: Info<'a>,
    /// Index of the module, and what is added to its static addresses.
    pub(crate) module: usize,
    pub(crate) unit: usize,
    /// Index of the frame among those of the thread.
    pub(crate) frame: usize,
    /// Number of expressions that are waiting for this one.
    pub(crate) depth: usize,
}

impl<'a> Surrounding<'a> {
    /// The context that expressions of a unit may ask for in a frame.
    pub(crate) fn new(
        thread: &'a StoppedThread<'a>,
        module: usize,
        unit: usize,
        frame: usize,
    ) -> Option<Self> {
        Some(Self { thread, info: thread.info(module)?, module, unit, frame, depth: 0 })
    }

    /// The same for expressions of another unit.
    pub(crate) fn of_unit(self, unit: usize) -> Self {
        Self { unit, ..self }
    }

    /// The place of a variable's bytes.
    pub(crate) fn location(&self, variable: Ref) -> ValueLocation {
        let located = self.info.inherited(variable, gimli::DW_AT_location);
        if let Some((owner, value)) = located {
            let around = self.of_unit(owner.unit);
            return around.expression(value).map_or_else(ValueLocation::Missing, |found| around.place(found));
        }
        match self.info.inherited(variable, gimli::DW_AT_const_value) {
            Some((owner, value)) => self.of_unit(owner.unit).constant(value),
            None => ValueLocation::Missing(Missing::Gone),
        }
    }

    /// The place that an expression computes.
    pub(crate) fn place(&self, expression: Expression<Reader>) -> ValueLocation {
        if expression.0.is_empty() {
            return ValueLocation::Missing(Missing::Gone);
        }
        match self.run(expression, None) {
            Ok(pieces) => ValueLocation::of_pieces(&pieces, self, &|offset| {
                let (unit, offset) = locate(self.info.dwarf, offset)?;
                Some(Ref { unit, offset })
            }),
            Err(missing) => ValueLocation::Missing(missing),
        }
    }

    /// The word that an expression computes.
    pub(crate) fn word(&self, expression: Expression<Reader>, start: Option<u64>) -> Result<u64, Missing> {
        expression::word(&self.run(expression, start)?, self)
    }

    /// The value that an expression computes.
    pub(crate) fn value(&self, expression: Expression<Reader>) -> Result<Value, Missing> {
        match self.typed_read(expression) {
            Some((place, size, base_type)) => {
                expression::read_typed(self.word(place, None)?, size, base_type, self)
            }
            None => expression::value(&self.run(expression, None)?, self),
        }
    }

    /// An expression that ends with reading a number of some type, without that end: the evaluator takes what stands
    /// last for an address, which not every number can be.
    fn typed_read(&self, expression: Expression<Reader>) -> Option<(Expression<Reader>, u8, UnitOffset)> {
        let unit = self.info.dwarf.units().get(self.unit)?;
        let mut operations = expression.operations(unit.encoding());
        let mut start = 0;
        let mut last = None;
        loop {
            let offset = operations.offset_from(&expression);
            let Some(operation) = operations.next().ok()? else { break };
            (start, last) = (offset, Some(operation));
        }
        match last? {
            Operation::Deref { base_type, size, .. } if base_type.0 != 0 => {
                let before = Reader::new(expression.0.slice().get(..start)?, gimli::LittleEndian);
                Some((Expression(before), size, base_type))
            }
            _ => None,
        }
    }

    fn run(
        &self,
        expression: Expression<Reader>,
        start: Option<u64>,
    ) -> Result<Vec<gimli::Piece<Reader>>, Missing> {
        if self.depth > DEEPEST {
            return Err(Missing::Unsupported("an expression that depends on itself"));
        }
        let unit = self.info.dwarf.units().get(self.unit).ok_or(Missing::Gone)?;
        let around = Self { depth: self.depth + 1, ..*self };
        expression::run(expression, unit.encoding(), start, &around)
    }

    /// The expression of a location attribute: itself, or the one of a list that holds at this frame's instruction.
    pub(crate) fn expression(&self, value: AttributeValue<Reader>) -> Result<Expression<Reader>, Missing> {
        if let AttributeValue::Exprloc(expression) = value {
            return Ok(expression);
        }
        let unit = self.info.dwarf.units().get(self.unit).ok_or(Missing::Gone)?;
        let place = self.thread.frames.get(self.frame).and_then(|frame| frame.frame.place);
        let address = place.filter(|place| place.module == self.module).ok_or(Missing::Gone)?.address;
        let Ok(Some(mut list)) = self.info.dwarf.sections().attr_locations(unit, value) else {
            return Err(Missing::Unsupported("a location of an unknown form"));
        };
        while let Ok(Some(entry)) = list.next() {
            if (entry.range.begin..entry.range.end).contains(&address) {
                return Ok(entry.data);
            }
        }
        Err(Missing::Gone)
    }

    /// A constant that is all that is left of a variable.
    fn constant(&self, value: AttributeValue<Reader>) -> ValueLocation {
        if let AttributeValue::Block(bytes) = value {
            return ValueLocation::constant(bytes.slice());
        }
        if let AttributeValue::Sdata(value) = value {
            return ValueLocation::constant(&i128::from(value).to_le_bytes());
        }
        if let Some(value) = value.udata_value() {
            return ValueLocation::constant(&u128::from(value).to_le_bytes());
        }
        // Strings come without their end.
        let unit = self.info.dwarf.units().get(self.unit);
        let text = unit.and_then(|unit| self.info.dwarf.sections().attr_string(unit, value).ok());
        match text {
            Some(text) => ValueLocation::constant(&[text.slice(), &[0]].concat()),
            None => ValueLocation::Missing(Missing::Unsupported("a constant of an unknown form")),
        }
    }

    /// The function that this frame runs, inlined ones aside.
    pub(crate) fn function(&self) -> Option<Ref> {
        let place =
            self.thread.frames.get(self.frame)?.frame.place.filter(|place| place.module == self.module)?;
        self.info.function_at(place.address)
    }
}

impl Surroundings for Surrounding<'_> {
    fn memory(&self) -> &dyn Memory {
        self.thread.memory()
    }

    fn register(&self, number: u16) -> Option<u128> {
        self.thread.register(self.frame, number)
    }

    fn call_frame(&self) -> Option<u64> {
        self.thread.frames.get(self.frame).map(|frame| frame.frame.cfa).filter(|&cfa| cfa != 0)
    }

    fn frame_base(&self) -> Result<u64, Missing> {
        let function = self.function().ok_or(Missing::Gone)?;
        let (owner, value) = self
            .info
            .inherited(function, gimli::DW_AT_frame_base)
            .ok_or(Missing::Unsupported("its frame base"))?;
        let around = self.of_unit(owner.unit);
        around.word(around.expression(value)?, None)
    }

    fn thread_local(&self, offset: u64) -> Result<u64, Missing> {
        thread_locals::address(self.thread, self.module, offset)
    }

    fn relocated(&self, address: u64) -> Option<u64> {
        Some(self.thread.modules.get(self.module)?.bias.wrapping_add(address))
    }

    fn indexed(&self, index: DebugAddrIndex<usize>, relocate: bool) -> Option<u64> {
        let unit = self.info.dwarf.units().get(self.unit)?;
        let address = self.info.dwarf.sections().address(unit, index).ok()?;
        if relocate { self.relocated(address) } else { Some(address) }
    }

    fn at_entry(&self, expression: Expression<Reader>) -> Result<Value, Missing> {
        at_entry(self, expression)
    }

    fn base_type(&self, entry: UnitOffset) -> Option<ValueType> {
        let die = self.info.die(Ref { unit: self.unit, offset: entry })?;
        ValueType::from_entry(&die).ok().flatten()
    }

    fn location_of(&self, entry: DieReference<usize>) -> Option<Reader> {
        let entry = match entry {
            DieReference::UnitRef(offset) => Ref { unit: self.unit, offset },
            DieReference::DebugInfoRef(offset) => {
                let (unit, offset) = locate(self.info.dwarf, offset)?;
                Ref { unit, offset }
            }
        };
        let value = self.info.die(entry)?.attr_value(gimli::DW_AT_location)?;
        self.of_unit(entry.unit).expression(value).ok().map(|expression| expression.0)
    }
}

/// Evaluates what a call site says of a register, in the caller's frame.
///
/// Only where the caller's call provably was the one that entered this very function: a function in between that
/// ended with a jump instead of a call would have changed the registers.
fn at_entry(around: &Surrounding<'_>, wanted: Expression<Reader>) -> Result<Value, Missing> {
    let unit = around.info.dwarf.units().get(around.unit).ok_or(Missing::Gone)?;
    let register = call_sites::only_register(wanted, unit.encoding()).ok_or(Missing::Gone)?;
    let thread = around.thread;
    let frame = around.frame + 1;
    let place = thread.frames.get(frame).and_then(|caller| caller.frame.place).ok_or(Missing::Gone)?;
    let info = thread.info(place.module).ok_or(Missing::Gone)?;
    let function = info.function_at(place.address).ok_or(Missing::Gone)?;
    let caller = Surrounding {
        module: place.module,
        info,
        unit: function.unit,
        frame,
        depth: around.depth + 1,
        ..*around
    };
    let site = call_sites::call_site(info, function, place.address + 1).ok_or(Missing::Gone)?;
    if !leads_here(&caller, site, around) {
        return Err(Missing::Gone);
    }
    let value = call_sites::value_of(info, site, register, unit.encoding()).ok_or(Missing::Gone)?;
    caller.value(value)
}

/// Whether a call went straight to the function of `callee`: its instruction or its entry names the address.
fn leads_here(caller: &Surrounding<'_>, site: Ref, callee: &Surrounding<'_>) -> bool {
    let modules = caller.thread.modules;
    let entry = || {
        let place = callee.thread.frames.get(callee.frame)?.frame.place?;
        let image = &modules.get(place.module)?.image;
        Some(image.function_at(place.address)?.range.start.wrapping_add(modules.get(place.module)?.bias))
    };
    let called = || {
        let die = caller.info.die(site)?;
        let indirect =
            call_sites::first_of(&die, &[gimli::DW_AT_call_target, gimli::DW_AT_GNU_call_site_target]);
        if let Some(AttributeValue::Exprloc(target)) = indirect {
            return caller.word(target, None).ok();
        }
        let place = caller.thread.frames.get(caller.frame)?.frame.place?;
        let module = modules.get(place.module)?;
        // From the file: in the process there may be a breakpoint.
        let [0xe8, distance @ ..] = module.image.code_before(place.address.checked_add(1)?)? else {
            return None;
        };
        let returns_to = place.address.wrapping_add(1).wrapping_add(module.bias);
        Some(returns_to.wrapping_add_signed(i32::from_le_bytes(distance).into()))
    };
    entry().is_some_and(|entry| called() == Some(entry))
}
