//! C++ containers whose elements stand side by side.

use super::{Seen, Subject, Unlike};
use crate::debuginfo::inspect::contents::Contents;
use crate::debuginfo::inspect::libraries::list_of;
use crate::debuginfo::inspect::shape::Form;
use crate::debuginfo::inspect::thread::Thread;
use crate::debuginfo::inspect::typed::{Elements, Typed};
use crate::debuginfo::inspect::view::{Items, List, View};

impl Thread<'_> {
    pub(super) fn cpp_text(&self, subject: Subject<'_>, data: &[&str], length: &[&str]) -> Seen {
        let length = self.unsigned_at(subject.value, length)?;
        let first = self.target(&self.member_at(subject.value, data)?)?;
        let address = first.contents.address().ok_or(Unlike::Layout)?;
        let width = self.size(&first).ok_or(Unlike::Layout)?;
        Ok(View::Text(self.wide_text_at(address, length, width)?))
    }

    pub(super) fn vector(&self, subject: Subject<'_>) -> Seen {
        let start = self.member_at(subject.value, &["_M_impl", "_M_start"])?;
        let finish = self.member_at(subject.value, &["_M_impl", "_M_finish"])?;
        if !matches!(self.shape(&start).ok_or(Unlike::Layout)?.form, Form::Pointer { .. }) {
            return self.bits(&start, &finish);
        }
        Ok(list_of(self.between(&start, &finish)?))
    }

    /// The elements from one pointer up to another.
    fn between(&self, start: &Typed, finish: &Typed) -> Seen<Elements> {
        let first = self.target(start)?;
        let from = first.contents.address().ok_or(Unlike::Layout)?;
        let to = self.raw(finish)?.0 as u64;
        let size = self.size(&first).filter(|&size| size > 0).ok_or(Unlike::Layout)?;
        let bytes = to.checked_sub(from).filter(|bytes| bytes % size == 0).ok_or(Unlike::Layout)?;
        self.elements_at(start, first.kind, from, bytes / size)
    }

    /// `std::vector<bool>`: iterators of a word and a bit in it.
    fn bits(&self, start: &Typed, finish: &Typed) -> Seen {
        let word = self.target(&self.member_at(start, &["_M_p"])?)?;
        let first = self.unsigned_at(start, &["_M_offset"])?;
        let address = word.contents.address().ok_or(Unlike::Layout)?;
        let last = self.raw(&self.member_at(finish, &["_M_p"])?)?.0 as u64;
        let rest = self.unsigned_at(finish, &["_M_offset"])?;
        let bits = last.checked_sub(address).and_then(|bytes| bytes.checked_mul(8)?.checked_add(rest));
        let count = bits.and_then(|bits| bits.checked_sub(first)).ok_or(Unlike::Layout)?;
        Ok(View::List(List { items: Items::Bits { address, first, count }, is_dynamic: true }))
    }

    pub(super) fn initializer_list(&self, subject: Subject<'_>) -> Seen {
        let first = self.target(&self.member_at(subject.value, &["_M_array"])?)?;
        let count = self.unsigned_at(subject.value, &["_M_len"])?;
        let address = first.contents.address().ok_or(Unlike::Layout)?;
        Ok(list_of(self.elements_at(subject.value, first.kind, address, count)?))
    }

    /// A table of blocks of equal length.
    pub(super) fn cpp_deque(&self, subject: Subject<'_>) -> Seen {
        let start = self.member_at(subject.value, &["_M_impl", "_M_start"])?;
        let finish = self.member_at(subject.value, &["_M_impl", "_M_finish"])?;
        let word = |of: &Typed, name| Ok::<u64, Unlike>(self.raw(&self.member_at(of, &[name])?)?.0 as u64);
        let block =
            self.between(&self.member_at(&start, &["_M_first"])?, &self.member_at(&start, &["_M_last"])?)?;
        let per_block = block.count.filter(|&count| count > 0).ok_or(Unlike::Layout)?;
        let position = |iterator: &Typed| {
            let offset = word(iterator, "_M_cur")?.checked_sub(word(iterator, "_M_first")?);
            Ok::<u64, Unlike>(offset.ok_or(Unlike::Layout)? / block.stride)
        };
        let table = word(&start, "_M_node")?;
        let blocks = word(&finish, "_M_node")?.checked_sub(table).ok_or(Unlike::Layout)? / 8;
        let first = position(&start)?;
        let end =
            blocks.checked_mul(per_block).and_then(|before| before.checked_add(position(&finish).ok()?));
        let count = end.and_then(|end| end.checked_sub(first)).ok_or(Unlike::Layout)?;
        let element = block.first.with(block.first.kind, Contents::Memory(0));
        let items = Items::Blocks { table, per_block, first, count, element, stride: block.stride };
        Ok(View::List(List { items, is_dynamic: true }))
    }
}
