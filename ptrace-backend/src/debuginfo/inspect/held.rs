//! What a block of memory holds, as variables of a stopped thread say that point to it.

use std::ops::Range;

use super::made::Made;
use super::scopes::Named;
use super::shape::Form;
use super::thread::Thread;
use super::typed::Typed;

/// How many calls are looked at, innermost first: who is further out has mostly handed on what it points to.
const MOST_CALLS: usize = 16;
/// So many members of a structure are looked at.
const MOST_MEMBERS: usize = 32;
/// Types have fewer names than this; damaged ones are called by their own.
const MOST_NAMES: usize = 16;

impl Thread<'_> {
    /// Some variable in the user's own code points to the beginning of a block, and to a structure of exactly its size, or, where
    /// none does, to one of several such structures that fill it: which, and the index of the module that has its type.
    pub(super) fn held_at(&self, block: &Range<u64>) -> Option<(usize, Made)> {
        let calls = self.stack(MOST_CALLS).into_iter().filter(|call| call.source.is_users());
        let variables = calls.flat_map(|call| [self.locals(call.id), self.globals(call.id)]).flatten();
        let pointers = variables.flat_map(|Named { value, .. }| self.reachable(value));
        let all: Vec<(usize, Made)> = pointers.filter_map(|pointer| self.pointed(&pointer, block)).collect();
        let whole = all.iter().find(|(_, made)| !made.is_of_many());
        whole.or(all.first()).cloned()
    }

    /// A variable, and the members of the structure that it is or points to.
    fn reachable(&self, value: Typed) -> Vec<Typed> {
        let whole = self.target(&value).unwrap_or_else(|_| value.clone());
        let mut found = vec![value];
        if let Some(shape) = self.shape(&whole)
            && let Form::Composite(composite) = &shape.form
        {
            found.extend(composite.members.iter().take(MOST_MEMBERS).map(|member| self.part(&whole, member)));
        }
        found
    }

    fn pointed(&self, pointer: &Typed, block: &Range<u64>) -> Option<(usize, Made)> {
        let target = self.target(pointer).ok()?;
        let at = target.contents.address().filter(|at| block.contains(at))? - block.start;
        let (size, room) = (self.size(&target).filter(|&size| size > 0)?, block.end - block.start);
        if !at.is_multiple_of(size) || !room.is_multiple_of(size) {
            return None;
        }
        let (whole, shape) = self.peeled(target.module, target.kind)?;
        let Form::Composite(_) = shape.form else { return None };
        let info = self.info(target.module)?;
        let names = std::iter::successors(target.kind, |&kind| match info.shape(kind).form {
            Form::Alias { of, .. } => of,
            _ => None,
        });
        let mut names = names.take(MOST_NAMES).filter_map(|kind| info.shape(kind).name.clone());
        let name = shape.name.clone().or_else(|| names.next())?;
        Some((target.module, Made::pointed_to(info, whole, &name, size < room)?))
    }
}
