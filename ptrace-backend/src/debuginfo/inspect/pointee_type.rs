//! The contents of a block of memory, by the types of variables of a stopped thread that point to it.

use std::ops::Range;

use super::scopes::{Named, globals, locals};
use super::stopped::stack::stack;
use super::stopped::thread::StoppedThread;
use super::values::typed::TypedValue;
use crate::debuginfo::entries::allocation_type::AllocationType;
use crate::debuginfo::entries::shape::Form;

/// Number of calls that are looked at, innermost first: calls further out have mostly handed on what they point to.
const MOST_CALLS: usize = 16;
/// So many members of a structure are looked at.
const MOST_MEMBERS: usize = 32;
/// Types have fewer names than this; damaged ones are called by their own.
const MOST_NAMES: usize = 16;

/// Some variable in the user's own code points to the beginning of a block, and to a structure of exactly its size, or, where
/// none does, to one of several such structures that fill it: which, and the index of the module that has its type.
pub(super) fn pointee_type_at(
    thread: &StoppedThread<'_>,
    block: &Range<u64>,
) -> Option<(usize, AllocationType)> {
    let calls = stack(thread, MOST_CALLS).into_iter().filter(|call| call.source.is_users());
    let variables = calls.flat_map(|call| [locals(thread, call.id), globals(thread, call.id)]).flatten();
    let pointers = variables.flat_map(|Named { value, .. }| reachable(thread, value));
    let all: Vec<(usize, AllocationType)> =
        pointers.filter_map(|pointer| pointed(thread, &pointer, block)).collect();
    let whole = all.iter().find(|(_, allocation)| !allocation.is_of_many());
    whole.or(all.first()).cloned()
}

/// A variable, and the members of the structure that it is or points to.
fn reachable(thread: &StoppedThread<'_>, value: TypedValue) -> Vec<TypedValue> {
    let whole = thread.target(&value).unwrap_or_else(|_| value.clone());
    let mut found = vec![value];
    if let Some(shape) = thread.shape(&whole)
        && let Form::Composite(composite) = &shape.form
    {
        found.extend(composite.members.iter().take(MOST_MEMBERS).map(|member| thread.part(&whole, member)));
    }
    found
}

fn pointed(
    thread: &StoppedThread<'_>,
    pointer: &TypedValue,
    block: &Range<u64>,
) -> Option<(usize, AllocationType)> {
    let target = thread.target(pointer).ok()?;
    let at = target.location.address().filter(|at| block.contains(at))? - block.start;
    let (size, room) = (thread.size(&target).filter(|&size| size > 0)?, block.end - block.start);
    if !at.is_multiple_of(size) || !room.is_multiple_of(size) {
        return None;
    }
    let (whole, shape) = thread.peeled(target.module, target.kind)?;
    let Form::Composite(_) = shape.form else { return None };
    let info = thread.info(target.module)?;
    let names = std::iter::successors(target.kind, |&kind| match info.shape(kind).form {
        Form::Alias { of, .. } => of,
        _ => None,
    });
    let mut names = names.take(MOST_NAMES).filter_map(|kind| info.shape(kind).name.clone());
    let name = shape.name.clone().or_else(|| names.next())?;
    Some((target.module, AllocationType::pointed_to(info, whole, &name, size < room)?))
}
