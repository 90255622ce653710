//! Descriptions of blocks of the heap: by the function of the program that asked for them, and, of blocks that would have the same
//! description otherwise, by the line, or by a number where lines do not tell them apart.
//!
//! Only blocks that operations were about take part: most blocks of most programs are never told of. Nothing but reports
//! depends on it.

use checker::names::{Obj, ObjName, Site, ThreadName};
use checker::object_description::{BlockDescription, BlockOrigin, BlockPart};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::debuginfo::{AllocationType, Image};
use crate::layout::Layout;

/// The allocation that a block's name stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllocationOrigin {
    pub(crate) thread: ThreadName,
    /// The place in the program's own code that asked for it, and the place that called the allocator; of a block from before
    /// `main` neither is known.
    pub(crate) asked: Site,
    /// The place in the function that is called there.
    pub(crate) through: Site,
    pub(crate) site: Site,
    /// The ordinal number of this allocation among those of the thread there.
    pub(crate) count: u32,
}

impl AllocationOrigin {
    /// The type of its content, if a function of a library has made it of which that is known.
    fn allocation_type(self, layout: &Layout) -> Option<(&Image, AllocationType)> {
        [self.through, self.asked].into_iter().find_map(|place| {
            let (module, address) = layout.locate(place)?;
            Some((&*module.image, layout.grace.read(|| module.image.allocation_type_at(address))?))
        })
    }
}

/// The words that every block has: its thread, its number, and the function.
type Key = (ThreadName, u32, Option<String>);

/// A block with all that can tell it from those like it.
#[derive(Debug, Clone, Copy)]
struct BlockIdentity {
    name: ObjName,
    origin: AllocationOrigin,
    line: Option<u32>,
}

impl BlockIdentity {
    fn new(layout: &Layout, name: ObjName, origin: AllocationOrigin) -> (Key, Self) {
        let frames = layout.frames(origin.asked);
        let frame = frames.iter().find(|frame| frame.is_users()).or(frames.first());
        let line = frame.and_then(|frame| frame.line);
        let function = frame.map(|frame| frame.function.clone());
        ((origin.thread, origin.count, function), Self { name, origin, line })
    }

    fn place(&self) -> (Site, Site) {
        (self.origin.asked, self.origin.site)
    }

    /// The line, and the number of the place in it, that tell a block from those that are alike.
    fn line_and_place(&self, alike: &[Self]) -> (Option<u32>, Option<usize>) {
        let others = || alike.iter().filter(|other| other.name != self.name);
        if others().next().is_none() {
            return (None, None);
        }
        let here = || others().filter(|other| other.line == self.line);
        let before = here().filter(|other| other.place() < self.place()).count();
        (self.line, here().next().map(|_| before + 1))
    }
}

/// The number of times that stacks are looked at to find out the content of blocks: each time takes up to a millisecond.
const MOST_LOOKS: usize = 1_000;

/// The blocks that operations were about.
#[derive(Debug, Default)]
pub(crate) struct BlockWords {
    told: FxHashSet<ObjName>,
    /// Those whose origin has not been asked for yet.
    new: Vec<ObjName>,
    alike: FxHashMap<Key, Vec<BlockIdentity>>,
    /// The blocks by the type of their content.
    holding: FxHashMap<String, FxHashSet<ObjName>>,
    /// The places of allocations; `true`: the functions that are called tell the type of the content.
    makers: FxHashMap<(Site, Site), bool>,
    /// The content of other blocks, as pointers to them say, with the module of its type, by its index.
    pointee_types: FxHashMap<ObjName, (usize, AllocationType)>,
    /// The blocks to which pointers were looked for, and the places in the code.
    looks: FxHashSet<(ObjName, Site)>,
}

impl BlockWords {
    /// An operation at a place in the code is about this block. `true`: what it holds is to be looked for there.
    pub(crate) fn note(
        &mut self,
        layout: &Layout,
        (name, block): (ObjName, AllocationOrigin),
        at: Site,
    ) -> bool {
        if self.told.insert(name) {
            self.new.push(name);
        }
        let maker = self.makers.entry((block.through, block.asked));
        !*maker.or_insert_with(|| block.allocation_type(layout).is_some())
            && !self.pointee_types.contains_key(&name)
            && self.looks.len() < MOST_LOOKS
            && self.looks.insert((name, at))
    }

    /// A block was seen to hold this.
    pub(crate) fn hold(&mut self, name: ObjName, module: usize, allocation: AllocationType) {
        self.holding.entry(allocation.kind.clone()).or_default().insert(name);
        self.pointee_types.insert(name, (module, allocation));
    }

    fn allocation_type<'a>(
        &self,
        layout: &'a Layout,
        (name, block): (ObjName, AllocationOrigin),
    ) -> Option<(&'a Image, AllocationType)> {
        block.allocation_type(layout).or_else(|| {
            let (module, allocation) = self.pointee_types.get(&name)?;
            Some((&*layout.unwinding.get(*module)?.image, allocation.clone()))
        })
    }

    /// A description of part of a block; `known` has what names stand for.
    pub(crate) fn describe(
        &mut self,
        layout: &Layout,
        (Obj { name, offset, len }, block): (Obj, AllocationOrigin),
        known: impl Fn(ObjName) -> Option<AllocationOrigin>,
    ) -> BlockDescription {
        for new in std::mem::take(&mut self.new) {
            let Some(block) = known(new) else { continue };
            if let Some((_, allocation)) = block.allocation_type(layout) {
                self.holding.entry(allocation.kind).or_default().insert(new);
            }
            let (key, told) = BlockIdentity::new(layout, new, block);
            self.alike.entry(key).or_default().push(told);
        }
        let (key, told) = BlockIdentity::new(layout, name, block);
        let alike = self.alike.get(&key).map(Vec::as_slice).unwrap_or_default();
        let (thread, count, function) = key;
        let (line, place) = if function.is_some() { told.line_and_place(alike) } else { Default::default() };
        let origin = match function {
            Some(function) => BlockOrigin::Function(function),
            None if block.site != Site::default() => BlockOrigin::Unknown,
            None if layout.begins_behind_loading => BlockOrigin::BeforeLoading,
            None => BlockOrigin::BeforeMain,
        };
        let allocation = self.allocation_type(layout, (name, block));
        let bytes = u64::from(offset)..u64::from(offset) + u64::from(len);
        let part = allocation
            .as_ref()
            .and_then(|(image, allocation)| layout.grace.read(|| image.part_of(allocation, bytes)));
        let part = match part.zip(allocation) {
            Some((name_of_part, (_, allocation))) => {
                let is_only = |holding: &FxHashSet<ObjName>| holding.iter().all(|other| *other == name);
                let is_only = allocation.is_users && self.holding.get(&allocation.kind).is_none_or(is_only);
                BlockPart::Member { name: name_of_part, is_only }
            }
            None => BlockPart::Offset(offset),
        };
        BlockDescription { allocated_by: thread, count, origin, line, place, part }
    }
}
