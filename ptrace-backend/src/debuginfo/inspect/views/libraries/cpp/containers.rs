//! C++ containers whose elements stand side by side.

use crate::debuginfo::entries::shape::Form;
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::stopped::value_location::ValueLocation;
use crate::debuginfo::inspect::values::typed::{Elements, TypedValue};
use crate::debuginfo::inspect::views::libraries::subject::{
    Subject, UnrecognisedType, ViewResult, elements_at, list_of, member_at, unsigned_at,
};
use crate::debuginfo::inspect::views::view::{Items, List, View};

pub(super) fn cpp_text(
    thread: &StoppedThread<'_>,
    subject: Subject<'_>,
    data: &[&str],
    length: &[&str],
) -> ViewResult {
    let length = unsigned_at(thread, subject.value, length)?;
    let first = thread.target(&member_at(thread, subject.value, data)?)?;
    let address = first.location.address().ok_or(UnrecognisedType::Layout)?;
    let width = thread.size(&first).ok_or(UnrecognisedType::Layout)?;
    Ok(View::Text(thread.wide_text_at(address, length, width)?))
}

pub(super) fn vector(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let start = member_at(thread, subject.value, &["_M_impl", "_M_start"])?;
    let finish = member_at(thread, subject.value, &["_M_impl", "_M_finish"])?;
    if !matches!(thread.shape(&start).ok_or(UnrecognisedType::Layout)?.form, Form::Pointer { .. }) {
        return bits(thread, &start, &finish);
    }
    Ok(list_of(between(thread, &start, &finish)?))
}

/// The elements from one pointer up to another.
fn between(thread: &StoppedThread<'_>, start: &TypedValue, finish: &TypedValue) -> ViewResult<Elements> {
    let first = thread.target(start)?;
    let from = first.location.address().ok_or(UnrecognisedType::Layout)?;
    let to = thread.raw(finish)?.0 as u64;
    let size = thread.size(&first).filter(|&size| size > 0).ok_or(UnrecognisedType::Layout)?;
    let bytes = to.checked_sub(from).filter(|bytes| bytes % size == 0).ok_or(UnrecognisedType::Layout)?;
    elements_at(thread, start, first.kind, from, bytes / size)
}

/// `std::vector<bool>`: iterators of a word and a bit in it.
fn bits(thread: &StoppedThread<'_>, start: &TypedValue, finish: &TypedValue) -> ViewResult {
    let word = thread.target(&member_at(thread, start, &["_M_p"])?)?;
    let first = unsigned_at(thread, start, &["_M_offset"])?;
    let address = word.location.address().ok_or(UnrecognisedType::Layout)?;
    let last = thread.raw(&member_at(thread, finish, &["_M_p"])?)?.0 as u64;
    let rest = unsigned_at(thread, finish, &["_M_offset"])?;
    let bits = last.checked_sub(address).and_then(|bytes| bytes.checked_mul(8)?.checked_add(rest));
    let count = bits.and_then(|bits| bits.checked_sub(first)).ok_or(UnrecognisedType::Layout)?;
    Ok(View::List(List { items: Items::Bits { address, first, count }, is_dynamic: true }))
}

pub(super) fn initializer_list(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let first = thread.target(&member_at(thread, subject.value, &["_M_array"])?)?;
    let count = unsigned_at(thread, subject.value, &["_M_len"])?;
    let address = first.location.address().ok_or(UnrecognisedType::Layout)?;
    Ok(list_of(elements_at(thread, subject.value, first.kind, address, count)?))
}

/// A table of blocks of equal length.
pub(super) fn cpp_deque(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let start = member_at(thread, subject.value, &["_M_impl", "_M_start"])?;
    let finish = member_at(thread, subject.value, &["_M_impl", "_M_finish"])?;
    let word = |of: &TypedValue, name| {
        Ok::<u64, UnrecognisedType>(thread.raw(&member_at(thread, of, &[name])?)?.0 as u64)
    };
    let block = between(
        thread,
        &member_at(thread, &start, &["_M_first"])?,
        &member_at(thread, &start, &["_M_last"])?,
    )?;
    let per_block = block.count.filter(|&count| count > 0).ok_or(UnrecognisedType::Layout)?;
    let position = |iterator: &TypedValue| {
        let offset = word(iterator, "_M_cur")?.checked_sub(word(iterator, "_M_first")?);
        Ok::<u64, UnrecognisedType>(offset.ok_or(UnrecognisedType::Layout)? / block.stride)
    };
    let table = word(&start, "_M_node")?;
    let blocks = word(&finish, "_M_node")?.checked_sub(table).ok_or(UnrecognisedType::Layout)? / 8;
    let first = position(&start)?;
    let end = blocks.checked_mul(per_block).and_then(|before| before.checked_add(position(&finish).ok()?));
    let count = end.and_then(|end| end.checked_sub(first)).ok_or(UnrecognisedType::Layout)?;
    let element = block.first.with(block.first.kind, ValueLocation::Memory(0));
    let items = Items::Blocks { table, per_block, first, count, element, stride: block.stride };
    Ok(View::List(List { items, is_dynamic: true }))
}
