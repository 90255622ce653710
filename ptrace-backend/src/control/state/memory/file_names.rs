//! Files that never had a name.

use std::time::SystemTime;

use checker::names::ThreadName;

/// A file that has no name. The number of an inode that is free again is given to another file, whose time is another one.
pub(crate) type Inode = (u64, u64, Option<SystemTime>);

/// The files without a name of an execution, in the order in which threads came upon them, each with the first of these.
pub(crate) type Nameless = Vec<(Inode, ThreadName)>;
