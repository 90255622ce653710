//! Objects in words.

use checker::names::ThreadName;
use checker::object_description::{BlockDescription, BlockOrigin, BlockPart, ObjectDescription};

/// The words for an object.
pub(crate) fn words(object: &ObjectDescription) -> String {
    match object {
        ObjectDescription::Named(name) => name.clone(),
        ObjectDescription::Stack { of, offset } => {
            format!("a variable on the stack of {of} (+{offset:#x})")
        }
        // All of it stands in quotes.
        ObjectDescription::MappedFile { file, offset } => {
            format!("{} in memory (+{offset:#x})", file.replace('`', ""))
        }
        ObjectDescription::Memory { address } => format!("memory at …{address:08x}"),
        ObjectDescription::Block(block) => words_for_part(block),
    }
}

/// Other words for the same object, by which a suppression may name it: whether a report tells of a line, a place, and the block
/// depends on the other blocks of the execution.
pub(crate) fn other_words(object: &ObjectDescription) -> Vec<String> {
    let ObjectDescription::Block(block) = object else { return Vec::new() };
    let mut block = BlockDescription { line: None, place: None, ..block.clone() };
    let mut all = Vec::new();
    if let BlockPart::Member { name, is_only } = &mut block.part {
        all.push(name.clone());
        *is_only = false;
    }
    all.push(words_for_part(&block));
    all
}

fn words_for_part(block: &BlockDescription) -> String {
    match &block.part {
        BlockPart::Offset(offset) => format!("{} (+{offset:#x})", words_for_block(block)),
        BlockPart::Member { name, is_only: true } => name.clone(),
        BlockPart::Member { name, is_only: false } => format!("{name} ({})", words_for_block(block)),
    }
}

fn words_for_block(
    BlockDescription { allocated_by, count, origin, line, place, .. }: &BlockDescription,
) -> String {
    let whose = if *allocated_by == ThreadName::MAIN { String::new() } else { format!(" of {allocated_by}") };
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    let place = place.map(|place| format!(", place {place}")).unwrap_or_default();
    let from = match origin {
        BlockOrigin::Function(function) => format!(" from {function}{line}{place}"),
        BlockOrigin::BeforeLoading => " from before the last `dlopen`".to_owned(),
        BlockOrigin::BeforeMain => " from before `main`".to_owned(),
        BlockOrigin::Unknown => String::new(),
    };
    format!("block {count}{whose}{from}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(part: BlockPart) -> ObjectDescription {
        ObjectDescription::Block(BlockDescription {
            allocated_by: ThreadName::MAIN.child(1).unwrap(),
            count: 3,
            origin: BlockOrigin::Function("make".to_owned()),
            line: Some(12),
            place: Some(2),
            part,
        })
    }

    #[test]
    fn a_mapped_file_is_told_by_its_offset() {
        let object = ObjectDescription::MappedFile { file: "file `cells`".to_owned(), offset: 1 << 33 };
        assert_eq!(words(&object), "file cells in memory (+0x200000000)");
    }

    #[test]
    fn a_block_is_told_by_origin_and_part() {
        let all = "block 3 of main/1 from make, line 12, place 2";
        let without_line = "block 3 of main/1 from make";
        let offset = block(BlockPart::Offset(8));
        assert_eq!(words(&offset), format!("{all} (+0x8)"));
        assert_eq!(other_words(&offset), [format!("{without_line} (+0x8)")]);
        let name = || "Queue.head".to_owned();
        let member = block(BlockPart::Member { name: name(), is_only: false });
        assert_eq!(words(&member), format!("Queue.head ({all})"));
        let only = block(BlockPart::Member { name: name(), is_only: true });
        assert_eq!(words(&only), "Queue.head");
        for member in [only, member] {
            assert_eq!(other_words(&member), [name(), format!("Queue.head ({without_line})")]);
        }
    }
}
