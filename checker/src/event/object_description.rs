//! Descriptions of objects, as data: a report words them.

use super::names::ThreadName;

/// A description of an object, in the terms of users of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ObjectDescription {
    /// The name that the program's source, a file system or the kernel's manual has for it: a variable or a part of one, a file, a pipe.
    Named(String),
    /// Part of the stack of a thread, of which debug information says nothing.
    Stack {
        /// The thread.
        of: ThreadName,
        /// Its offset there, in bytes.
        offset: u32,
    },
    /// Part of a block of the heap.
    Block(BlockDescription),
    /// Content of a file in memory that shows it.
    MappedFile {
        /// The words for the file.
        file: String,
        /// The offset in the file, in bytes.
        offset: u64,
    },
    /// Memory of which nothing is known but its address.
    Memory {
        /// The lower half of the address.
        address: u32,
    },
}

/// A part of a block of the heap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockDescription {
    /// The thread that allocated the block.
    pub allocated_by: ThreadName,
    /// The number of the allocation, from 1, among those of the thread by that origin.
    pub count: u32,
    /// The origin of the block.
    pub origin: BlockOrigin,
    /// The line of the allocation, where other blocks have the same thread, number and function.
    pub line: Option<u32>,
    /// The number of the place in that line, from 1, where lines do not tell the blocks apart.
    pub place: Option<usize>,
    /// The part of the block.
    pub part: BlockPart,
}

/// The origin of a block of the heap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BlockOrigin {
    /// It was allocated by a function of the program.
    Function(String),
    /// It is older than the last `dlopen` before there were threads.
    BeforeLoading,
    /// It is older than `main`.
    BeforeMain,
    /// It was allocated by code without a name.
    Unknown,
}

/// A part of a block of the heap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BlockPart {
    /// The bytes from an offset on.
    Offset(u32),
    /// A member, or all, of the value in the block.
    Member {
        /// Its name, beginning with that of the type ("`Queue.head`").
        name: String,
        /// Whether no other block that was seen holds a value of that type of the program.
        is_only: bool,
    },
}

impl ObjectDescription {
    /// The object's own name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Block(BlockDescription { part: BlockPart::Member { name, .. }, .. }) => Some(name),
            Self::Stack { .. } | Self::Block(_) | Self::MappedFile { .. } | Self::Memory { .. } => None,
        }
    }
}
