//! The threads of an execution by number, and lists of something of each.

use std::ops::{Index, IndexMut};

/// A thread's place in the lists of threads of its execution, which are in creation order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ThreadIndex(u32);

impl ThreadIndex {
    pub(crate) const MAIN: Self = Self(0);

    pub(crate) const fn place(self) -> usize {
        self.0 as usize
    }

    fn at(place: usize) -> Self {
        Self(place as u32)
    }

    pub(crate) fn is_main(self) -> bool {
        self == Self::MAIN
    }
}

/// Something of each thread.
#[derive(Debug)]
pub(crate) struct PerThread<T>(Vec<T>);

impl<T> PerThread<T> {
    /// The list while there is the main thread alone.
    pub(crate) fn new(of_main: T) -> Self {
        Self(vec![of_main])
    }

    /// A thread was created.
    pub(crate) fn push(&mut self, of_thread: T) -> ThreadIndex {
        self.0.push(of_thread);
        ThreadIndex::at(self.0.len() - 1)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> + ExactSizeIterator {
        self.0.iter_mut()
    }

    /// All threads.
    pub(crate) fn indices(
        &self,
    ) -> impl DoubleEndedIterator<Item = ThreadIndex> + ExactSizeIterator + Clone + use<T> {
        (0..self.0.len()).map(ThreadIndex::at)
    }

    pub(crate) fn enumerate(&self) -> impl DoubleEndedIterator<Item = (ThreadIndex, &T)> {
        self.0.iter().enumerate().map(|(place, of_thread)| (ThreadIndex::at(place), of_thread))
    }

    /// The first thread of which this is so.
    pub(crate) fn position(&self, is_it: impl FnMut(&T) -> bool) -> Option<ThreadIndex> {
        self.0.iter().position(is_it).map(ThreadIndex::at)
    }

    /// The last one.
    pub(crate) fn rposition(&self, is_it: impl FnMut(&T) -> bool) -> Option<ThreadIndex> {
        self.0.iter().rposition(is_it).map(ThreadIndex::at)
    }
}

impl<T> Index<ThreadIndex> for PerThread<T> {
    type Output = T;

    fn index(&self, thread: ThreadIndex) -> &T {
        &self.0[thread.place()]
    }
}

impl<T> IndexMut<ThreadIndex> for PerThread<T> {
    fn index_mut(&mut self, thread: ThreadIndex) -> &mut T {
        &mut self.0[thread.place()]
    }
}
