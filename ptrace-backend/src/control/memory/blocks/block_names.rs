//! Words for blocks of the heap: by the function of the program that asked for them, and, of blocks that would have the same
//! words otherwise, by the line, or by a number where lines do not tell them apart.
//!
//! Only blocks that operations were about take part: most blocks of most programs are never told of. Nothing but words
//! depends on it.

use checker::names::{Obj, ObjName, Site, ThreadName};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::debuginfo::{AllocationType, Image};
use crate::layout::Layout;

/// The allocation that a block's name stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllocationOrigin {
    pub(crate) thread: ThreadName,
    /// Where the program's own code asked for it, and where the allocator was called; of a block from before `main` neither is known.
    pub(crate) asked: Site,
    /// Where in the function that is called there.
    pub(crate) through: Site,
    pub(crate) site: Site,
    /// The how manieth time that thread allocated there.
    pub(crate) count: u32,
}

impl AllocationOrigin {
    /// What it holds, if a function of a library has made it of which that is known.
    fn allocation_type(self, layout: &Layout) -> Option<(&Image, AllocationType)> {
        [self.through, self.asked].into_iter().find_map(|place| {
            let (module, address) = layout.locate(place)?;
            Some((&*module.image, layout.grace.read(|| module.image.allocation_type_at(address))?))
        })
    }
}

/// What is told of every block: whose it is, the how manieth, and the function.
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

    /// What tells a block from those that are alike: nothing, where there are none.
    fn which(&self, alike: &[Self]) -> String {
        let others = || alike.iter().filter(|other| other.name != self.name);
        if others().next().is_none() {
            return String::new();
        }
        let here = || others().filter(|other| other.line == self.line);
        let before = here().filter(|other| other.place() < self.place()).count();
        let line = self.line.map(|line| format!(", line {line}")).unwrap_or_default();
        let number = here().next().map(|_| format!(", place {}", before + 1)).unwrap_or_default();
        line + &number
    }
}

/// So often stacks are looked at to find out what blocks hold: each time takes up to a millisecond.
const MOST_LOOKS: usize = 1_000;

/// The blocks that operations were about.
#[derive(Debug, Default)]
pub(crate) struct BlockWords {
    told: FxHashSet<ObjName>,
    /// Those of which nobody has asked yet where they are from.
    new: Vec<ObjName>,
    alike: FxHashMap<Key, Vec<BlockIdentity>>,
    /// By what they hold.
    holding: FxHashMap<String, FxHashSet<ObjName>>,
    /// Whether what is allocated there is known from the functions that are called.
    makers: FxHashMap<(Site, Site), bool>,
    /// What others hold, as pointers to them say, and the module of it, by its index.
    held: FxHashMap<ObjName, (usize, AllocationType)>,
    /// At which places in the code pointers to a block were looked for.
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
            && !self.held.contains_key(&name)
            && self.looks.len() < MOST_LOOKS
            && self.looks.insert((name, at))
    }

    /// A block was seen to hold this.
    pub(crate) fn hold(&mut self, name: ObjName, module: usize, allocation: AllocationType) {
        self.holding.entry(allocation.kind.clone()).or_default().insert(name);
        self.held.insert(name, (module, allocation));
    }

    fn allocation_type<'a>(
        &self,
        layout: &'a Layout,
        (name, block): (ObjName, AllocationOrigin),
    ) -> Option<(&'a Image, AllocationType)> {
        block.allocation_type(layout).or_else(|| {
            let (module, allocation) = self.held.get(&name)?;
            Some((&*layout.unwinding.get(*module)?.image, allocation.clone()))
        })
    }

    /// The words for part of a block; `known` has what names stand for.
    pub(crate) fn describe(
        &mut self,
        layout: &Layout,
        (Obj { name, offset, len }, block): (Obj, AllocationOrigin),
        known: impl Fn(ObjName) -> Option<AllocationOrigin>,
    ) -> String {
        for new in std::mem::take(&mut self.new) {
            let Some(block) = known(new) else { continue };
            if let Some((_, allocation)) = block.allocation_type(layout) {
                self.holding.entry(allocation.kind).or_default().insert(new);
            }
            let (key, told) = BlockIdentity::new(layout, new, block);
            self.alike.entry(key).or_default().push(told);
        }
        let (key, told) = BlockIdentity::new(layout, name, block);
        let which = told.which(self.alike.get(&key).map(Vec::as_slice).unwrap_or_default());
        let (thread, count, function) = key;
        let from = match function {
            Some(function) => format!(" from {function}{which}"),
            None if block.site == Site::default() && layout.begins_behind_loading => {
                " from before the last `dlopen`".to_owned()
            }
            None if block.site == Site::default() => " from before `main`".to_owned(),
            None => String::new(),
        };
        let whose = if thread == ThreadName::MAIN { String::new() } else { format!(" of {thread}") };
        let words = format!("block {count}{whose}{from}");
        let allocation = self.allocation_type(layout, (name, block));
        let bytes = u64::from(offset)..u64::from(offset) + u64::from(len);
        let part = allocation
            .as_ref()
            .and_then(|(image, allocation)| layout.grace.read(|| image.part_of(allocation, bytes)));
        let Some((part, (_, allocation))) = part.zip(allocation) else {
            return format!("{words} (+{offset:#x})");
        };
        let is_only = |holding: &FxHashSet<ObjName>| holding.iter().all(|other| *other == name);
        let is_name = allocation.is_users && self.holding.get(&allocation.kind).is_none_or(is_only);
        if is_name { part } else { format!("{part} ({words})") }
    }
}
