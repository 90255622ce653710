//! Positions of events in an execution, and lists of something of each event.

use std::fmt;
use std::ops::{Deref, DerefMut, Index, IndexMut, Range, RangeFrom, RangeTo};

use serde::{Deserialize, Serialize};

/// The position of an event in its execution: the number of events before it. A point between two events is the position of
/// the later one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(u32);

impl Position {
    /// The position of the first event.
    pub const START: Self = Self(0);

    /// Behind all events.
    pub const BEHIND_ALL: Self = Self(u32::MAX);

    /// The point at which so many events have run.
    #[must_use]
    pub const fn after(events: usize) -> Self {
        Self(events as u32)
    }

    /// The point of a number that comes from outside; none where no execution has so many events.
    #[must_use]
    pub fn of_number(events: usize) -> Option<Self> {
        u32::try_from(events).ok().map(Self)
    }

    /// The number of events that come before it.
    #[must_use]
    pub const fn count(self) -> usize {
        self.0 as usize
    }

    /// The position behind it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The position in front of it.
    #[must_use]
    pub fn previous(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }

    /// The positions from here up to another one, which is left out.
    pub fn until(self, end: Self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        (self.0..end.0).map(Self)
    }
}

impl From<Position> for u32 {
    fn from(position: Position) -> Self {
        position.0
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Something of each event of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PerEvent<T>(Vec<T>);

impl<T> PerEvent<T> {
    /// The next event has run.
    pub fn push(&mut self, of_event: T) -> Position {
        self.0.push(of_event);
        Position::after(self.0.len() - 1)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets the events from a position on.
    pub fn truncate(&mut self, end: Position) {
        self.0.truncate(end.count());
    }

    /// Forgets the last event.
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Forgets the events from a position on, or has this for those that are missing up to it.
    pub fn resize(&mut self, end: Position, of_event: T)
    where
        T: Clone,
    {
        self.0.resize(end.count(), of_event);
    }

    /// The number of events that there is room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// The point behind the last event.
    #[must_use]
    pub fn end(&self) -> Position {
        Position::after(self.0.len())
    }

    /// The entry of the event at a position, if so many have run.
    #[must_use]
    pub fn at(&self, position: Position) -> Option<&T> {
        self.0.get(position.count())
    }

    /// All positions.
    pub fn positions(
        &self,
    ) -> impl DoubleEndedIterator<Item = Position> + ExactSizeIterator + Clone + use<T> {
        Position::START.until(self.end())
    }

    /// All, with their positions.
    pub fn enumerate(&self) -> impl DoubleEndedIterator<Item = (Position, &T)> + ExactSizeIterator + Clone {
        self.between(Position::START, self.end())
    }

    /// Those from a position up to another one, which is left out.
    pub fn between(
        &self,
        start: Position,
        end: Position,
    ) -> impl DoubleEndedIterator<Item = (Position, &T)> + ExactSizeIterator + Clone {
        start.until(end).zip(&self[start..end])
    }

    /// Those from a position on; none where fewer events have run.
    pub fn since(
        &self,
        start: Position,
    ) -> impl DoubleEndedIterator<Item = (Position, &T)> + ExactSizeIterator + Clone {
        self.between(start.min(self.end()), self.end())
    }

    /// The first one of which this is so.
    pub fn position(&self, is_it: impl FnMut(&T) -> bool) -> Option<Position> {
        self.0.iter().position(is_it).map(Position::after)
    }

    /// The last one.
    pub fn rposition(&self, is_it: impl FnMut(&T) -> bool) -> Option<Position> {
        self.rposition_before(self.end(), is_it)
    }

    /// The first one at a position or behind it.
    pub fn position_from(&self, start: Position, is_it: impl FnMut(&T) -> bool) -> Option<Position> {
        self[start..].iter().position(is_it).map(|behind| Position::after(start.count() + behind))
    }

    /// The last one before a position.
    pub fn rposition_before(&self, end: Position, is_it: impl FnMut(&T) -> bool) -> Option<Position> {
        self[..end].iter().rposition(is_it).map(Position::after)
    }
}

impl<T> Extend<T> for PerEvent<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, more: I) {
        self.0.extend(more);
    }
}

impl<T> Default for PerEvent<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<T> for PerEvent<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl<T> Deref for PerEvent<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for PerEvent<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a PerEvent<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut PerEvent<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<T> Index<Position> for PerEvent<T> {
    type Output = T;

    fn index(&self, position: Position) -> &T {
        &self.0[position.count()]
    }
}

impl<T> IndexMut<Position> for PerEvent<T> {
    fn index_mut(&mut self, position: Position) -> &mut T {
        &mut self.0[position.count()]
    }
}

impl<T> Index<Range<Position>> for PerEvent<T> {
    type Output = [T];

    fn index(&self, part: Range<Position>) -> &[T] {
        &self.0[part.start.count()..part.end.count()]
    }
}

impl<T> Index<RangeTo<Position>> for PerEvent<T> {
    type Output = [T];

    fn index(&self, part: RangeTo<Position>) -> &[T] {
        &self.0[..part.end.count()]
    }
}

impl<T> Index<RangeFrom<Position>> for PerEvent<T> {
    type Output = [T];

    fn index(&self, part: RangeFrom<Position>) -> &[T] {
        &self.0[part.start.count()..]
    }
}
