//! What a register had in it when a function was entered, as its caller remembers.

use gimli::{AttributeValue, Expression, Operation, Value};

use super::frame::Surrounding;
use super::index::{Die, Info, Ref};
use super::shape::children;
use crate::debuginfo::dwarf::Reader;
use crate::debuginfo::expression::Missing;

/// Evaluates what a call site says of a register, in the caller's frame.
///
/// Only where the caller's call provably was the one that entered this very function: a function in between that
/// ended with a jump instead of a call would have changed the registers.
pub(super) fn find(around: &Surrounding<'_>, wanted: Expression<Reader>) -> Result<Value, Missing> {
    let unit = around.info.dwarf.units().get(around.unit).ok_or(Missing::Gone)?;
    let register = only_register(wanted, unit.encoding()).ok_or(Missing::Gone)?;
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
    let site = call_site(info, function, place.address + 1).ok_or(Missing::Gone)?;
    if !leads_here(&caller, site, around) {
        return Err(Missing::Gone);
    }
    let value = value_of(info, site, register, unit.encoding()).ok_or(Missing::Gone)?;
    caller.value(value)
}

/// The register that an expression is about, if it is about nothing else.
fn only_register(expression: Expression<Reader>, encoding: gimli::Encoding) -> Option<u16> {
    let mut operations = expression.operations(encoding);
    let register = match operations.next().ok()?? {
        Operation::Register { register } | Operation::RegisterOffset { register, offset: 0, .. } => register,
        _ => return None,
    };
    operations.next().ok()?.is_none().then_some(register.0)
}

/// The entry of the call that returns to a static address.
fn call_site(info: Info<'_>, function: Ref, returns_to: u64) -> Option<Ref> {
    let unit = info.unit(function)?;
    let mut entries = unit.entries_at_offset(function.offset).ok()?;
    let own = entries.next_dfs().ok()??.depth();
    while let Some(die) = entries.next_dfs().ok()? {
        if die.depth() <= own {
            break;
        }
        let attribute = match die.tag() {
            gimli::DW_TAG_call_site => gimli::DW_AT_call_return_pc,
            gimli::DW_TAG_GNU_call_site => gimli::DW_AT_low_pc,
            _ => continue,
        };
        let address = die
            .attr_value(attribute)
            .and_then(|value| info.dwarf.sections().attr_address(unit, value).ok().flatten());
        if address == Some(returns_to) {
            return Some(Ref { unit: function.unit, offset: die.offset() });
        }
    }
    None
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
        let indirect = first_of(&die, &[gimli::DW_AT_call_target, gimli::DW_AT_GNU_call_site_target]);
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

/// The expression for a register's value at the call.
fn value_of(
    info: Info<'_>,
    site: Ref,
    register: u16,
    encoding: gimli::Encoding,
) -> Option<Expression<Reader>> {
    let mut found = None;
    children(info, site, &mut |_, die| {
        let is_parameter =
            matches!(die.tag(), gimli::DW_TAG_call_site_parameter | gimli::DW_TAG_GNU_call_site_parameter);
        let Some(AttributeValue::Exprloc(place)) =
            die.attr_value(gimli::DW_AT_location).filter(|_| is_parameter)
        else {
            return;
        };
        if only_register(place, encoding) == Some(register) {
            let value = first_of(die, &[gimli::DW_AT_call_value, gimli::DW_AT_GNU_call_site_value]);
            found = value.and_then(|value| value.exprloc_value());
        }
    });
    found
}

fn first_of(die: &Die, names: &[gimli::DwAt]) -> Option<AttributeValue<Reader>> {
    names.iter().find_map(|&name| die.attr_value(name))
}
