//! The variables that a function's source could name at an instruction.

use gimli::{AttributeValue, EntriesTreeNode};

use super::entry::Ref;
use super::info::{Info, children};
use crate::debuginfo::dwarf::die::{DieView, ranges};
use crate::debuginfo::dwarf::reader::{Die, Reader, Unit};

/// Blocks are nested less deep than this; damaged files claim otherwise.
const DEEPEST: usize = 256;

/// A function, an inlined call, or a block within one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LexicalBlock {
    pub(crate) entry: Ref,
    is_inlined: bool,
}

/// A variable or parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    pub(crate) entry: Ref,
    pub(crate) is_parameter: bool,
    /// For one of many parameters that were declared together: that declaration, and its place among them.
    pub(crate) of_pack: Option<(Ref, usize)>,
}

impl Declared {
    fn new(entry: Ref, is_parameter: bool) -> Self {
        Self { entry, is_parameter, of_pack: None }
    }

    pub(crate) fn name(self, info: Info<'_>) -> Option<String> {
        match self.of_pack {
            // Not every compiler names them.
            Some((pack, index)) => Some(format!("{}#{index}", info.name(pack).unwrap_or_default())),
            None => info.name(self.entry).filter(|name| !name.is_empty()),
        }
    }
}

/// The blocks of each call that is going on at a static address, the innermost call first; within a call the innermost
/// block comes last.
pub(crate) fn calls(info: Info<'_>, function: Ref, address: u64) -> Vec<Vec<LexicalBlock>> {
    let mut blocks = vec![LexicalBlock { entry: function, is_inlined: false }];
    if let Some(unit) = info.unit(function)
        && let Ok(mut tree) = unit.entries_tree(Some(function.offset))
        && let Ok(root) = tree.root()
    {
        // The entries before a damaged one are used.
        let _ = descend(info, function.unit, unit, root, address, &mut blocks);
    }
    let mut calls: Vec<Vec<LexicalBlock>> = Vec::new();
    for block in blocks {
        match calls.last_mut().filter(|_| !block.is_inlined) {
            Some(call) => call.push(block),
            None => calls.push(vec![block]),
        }
    }
    calls.reverse();
    calls
}

fn descend(
    info: Info<'_>,
    index: usize,
    unit: &Unit,
    node: EntriesTreeNode<'_, '_, Reader>,
    address: u64,
    blocks: &mut Vec<LexicalBlock>,
) -> gimli::Result<()> {
    if blocks.len() >= DEEPEST {
        return Ok(());
    }
    let mut nodes = node.children();
    while let Some(child) = nodes.next()? {
        let entry = child.entry();
        let tag = entry.tag();
        let is_inlined = tag == gimli::DW_TAG_inlined_subroutine;
        let is_block =
            matches!(tag, gimli::DW_TAG_lexical_block | gimli::DW_TAG_try_block | gimli::DW_TAG_catch_block);
        if !is_inlined && !is_block {
            continue;
        }
        let die = DieView { unit, tag, offset: entry.offset(), depth: 0, attributes: entry.attrs() };
        if ranges(info.dwarf, &die).iter().any(|range| range.contains(&address)) {
            blocks.push(LexicalBlock { entry: Ref { unit: index, offset: entry.offset() }, is_inlined });
            return descend(info, index, unit, child, address, blocks);
        }
    }
    Ok(())
}

/// The variables that a block declares itself, in the order of the source.
pub(crate) fn declared(info: Info<'_>, block: LexicalBlock) -> Vec<Declared> {
    let mut found = below(info, block.entry);
    let origin = info
        .die(block.entry)
        .and_then(|die| info.target(block.entry.unit, die.attr_value(gimli::DW_AT_abstract_origin)?));
    if let Some(origin) = origin {
        let told: Vec<Ref> = found.iter().filter_map(|one| abstract_origin(info, one.entry)).collect();
        // Variables of which the compiler left nothing are known from the function as it was written.
        found.extend(below(info, origin).into_iter().filter(|one| !told.contains(&one.entry)));
    }
    found
}

fn abstract_origin(info: Info<'_>, entry: Ref) -> Option<Ref> {
    info.target(entry.unit, info.die(entry)?.attr_value(gimli::DW_AT_abstract_origin)?)
}

fn below(info: Info<'_>, parent: Ref) -> Vec<Declared> {
    let mut found = Vec::new();
    children(info, parent, &mut |unit, child| {
        let entry = Ref { unit, offset: child.offset() };
        match child.tag() {
            gimli::DW_TAG_formal_parameter => found.push(Declared::new(entry, true)),
            gimli::DW_TAG_variable if !is_declaration(child) => {
                found.push(Declared::new(entry, false));
            }
            gimli::DW_TAG_GNU_formal_parameter_pack => {
                let mut index = 0;
                children(info, entry, &mut |unit, inner| {
                    if inner.tag() == gimli::DW_TAG_formal_parameter {
                        let inner = Ref { unit, offset: inner.offset() };
                        found.push(Declared { of_pack: Some((entry, index)), ..Declared::new(inner, true) });
                        index += 1;
                    }
                });
            }
            _ => {}
        }
    });
    found
}

fn is_declaration(die: &Die) -> bool {
    matches!(die.attr_value(gimli::DW_AT_declaration), Some(AttributeValue::Flag(true)))
}
