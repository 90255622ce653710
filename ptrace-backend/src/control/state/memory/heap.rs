//! The blocks of the heap, by address and by name.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use checker::names::ObjName;
use checker::names::Site;
use checker::names::ThreadName;
use rustc_hash::FxHashMap;
use rustc_hash::FxHashSet;

/// A block that is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) size: u64,
    /// The place that is to hold its address, unless that is the result.
    pub(crate) into: Option<u64>,
    /// The block at this address is freed then, and so many bytes of it are copied.
    pub(crate) copies: Option<(u64, u64)>,
}

/// A call that will return a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllocationInProgress {
    pub(crate) wanted: Request,
    pub(crate) back: u64,
}

/// The blocks that exist, by address, and how often each thread has allocated at each place.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) by_address: BTreeMap<u64, (u64, ObjName)>,
    pub(crate) counts: FxHashMap<(ThreadName, u64), u32>,
    /// The thread that allocated a block, and its stack then: of those that threads share, and of those that main allocated
    /// early.
    pub(crate) origins: FxHashMap<ObjName, (ThreadName, Vec<Site>)>,
}

impl Blocks {
    pub(crate) fn at(&self, addr: u64) -> Option<(ObjName, u64)> {
        let (&start, &(size, name)) = self.by_address.range(..=addr).next_back()?;
        (addr - start < size).then_some((name, start))
    }

    /// The end of the block before an address, and the beginning of the one behind it.
    fn borders(&self, addr: u64) -> [Option<u64>; 2] {
        let before = self.by_address.range(..=addr).next_back();
        let behind = self.by_address.range(addr.saturating_add(1)..).next();
        [before.map(|(start, (size, _))| start.saturating_add(*size)), behind.map(|(start, _)| *start)]
    }
}

/// The heap of one execution.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    /// The blocks that main had allocated when it created the first thread, and those of them that have been freed since.
    pub(crate) early: Arc<Blocks>,
    pub(crate) freed: FxHashSet<u64>,
    /// The blocks that have been allocated since, or, before the first thread, at all.
    pub(crate) blocks: Blocks,
    /// The number of calls of the allocator.
    pub(crate) calls: u32,
    /// Allocations are trapped already, to find out what main allocates.
    pub(crate) surveys: bool,
    /// Blocks are named from the first thread on.
    pub(crate) names: bool,
    /// The allocator has no traps any more, since it is called too often.
    pub(crate) left_unnamed: bool,
    /// Memory that has got another name since a thread last went on, stacks as well.
    pub(crate) renamed: Vec<Range<u64>>,
}

impl Heap {
    /// The block that an address is in, and where it begins.
    pub(crate) fn at(&self, addr: u64) -> Option<(ObjName, u64)> {
        let early = || self.early.at(addr).filter(|(_, start)| !self.freed.contains(start));
        self.blocks.at(addr).or_else(early)
    }

    /// The ends and beginnings of blocks around an address: no block begins or ends between it and the next one of these.
    pub(crate) fn borders(&self, addr: u64) -> impl Iterator<Item = u64> {
        self.blocks.borders(addr).into_iter().chain(self.early.borders(addr)).flatten()
    }

    /// The block that begins at an address, and its size.
    pub(crate) fn block(&self, addr: u64) -> Option<(ObjName, u64)> {
        let early = || self.early.by_address.get(&addr).filter(|_| !self.freed.contains(&addr));
        self.blocks.by_address.get(&addr).or_else(early).map(|&(size, name)| (name, size))
    }

    /// The addresses of a block.
    pub(crate) fn extent(&self, name: ObjName) -> Option<Range<u64>> {
        let extent = |(&start, &(size, other)): (&u64, &(u64, ObjName))| {
            (other == name).then(|| start..start.saturating_add(size))
        };
        let all = self.blocks.by_address.iter().chain(&self.early.by_address);
        all.into_iter().find_map(extent)
    }

    /// The thread that allocated a block, and its stack then, if that is known.
    pub(crate) fn origin(&self, block: ObjName) -> Option<&(ThreadName, Vec<Site>)> {
        self.blocks.origins.get(&block).or_else(|| self.early.origins.get(&block))
    }

    /// There is a new block at an address.
    pub(crate) fn add(&mut self, addr: u64, size: u64, name: ObjName) {
        self.blocks.by_address.insert(addr, (size, name));
        self.renamed.push(addr..addr.saturating_add(size));
    }

    /// The block at an address is no more.
    pub(crate) fn forget(&mut self, addr: u64) {
        if let Some((_, size)) = self.block(addr) {
            self.renamed.push(addr..addr.saturating_add(size));
        }
        if self.blocks.by_address.remove(&addr).is_none() && self.early.by_address.contains_key(&addr) {
            self.freed.insert(addr);
        }
    }

    /// Counts an allocation of this thread at this place; the number of them so far, this one included.
    pub(crate) fn count(&mut self, thread: ThreadName, site: u64) -> u32 {
        let early = &self.early.counts;
        let count = self.blocks.counts.entry((thread, site));
        let count = count.or_insert_with(|| early.get(&(thread, site)).copied().unwrap_or(0));
        *count += 1;
        *count
    }
}
