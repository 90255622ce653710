//! The numbers by which a client knows frames and values.

use explorer::debug::{FrameId, Handle};

use crate::request::Refusal;

/// The numbers by which the client knows frames, from 1: each is a thread's frame at a depth. An editor that asks for one
/// while the session moves is answered with what is there now.
#[derive(Debug, Default)]
pub(crate) struct Frames(Vec<(u32, Option<FrameId>)>);

impl Frames {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// A number for a thread's frame.
    pub(crate) fn add(&mut self, thread: u32, frame: Option<FrameId>) -> i64 {
        let known = self.0.iter().position(|known| frame.is_some() && *known == (thread, frame));
        let index = known.unwrap_or_else(|| {
            self.0.push((thread, frame));
            self.0.len() - 1
        });
        index as i64 + 1
    }

    /// The thread and the call of a frame's number.
    pub(crate) fn get(&self, number: i64) -> Result<(u32, Option<FrameId>), Refusal> {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let known = place.and_then(|place| self.0.get(place));
        known.copied().ok_or_else(|| Refusal("the session has moved on: ask for the stack again".to_owned()))
    }
}

/// Handles for everything that the client can look into, by number, from 1. Editors look at what they have just been shown
/// while the session moves on already, and take a refusal for an empty answer: numbers hold over one move, and stand for
/// what is there now.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    /// Number of handles that came before the old ones.
    gone: usize,
    /// Number of the others that are from before the last move.
    old: usize,
    known: Vec<(u32, Handle)>,
}

impl Handles {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The session has moved.
    pub(crate) fn age(&mut self) {
        self.known.drain(..self.old);
        self.gone += self.old;
        self.old = self.known.len();
    }

    pub(crate) fn add(&mut self, thread: u32, handle: Handle) -> i64 {
        self.known.push((thread, handle));
        (self.gone + self.known.len()) as i64
    }

    pub(crate) fn get(&self, number: i64) -> Result<(u32, Handle), Refusal> {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(self.gone + 1));
        let known = place.and_then(|place| self.known.get(place));
        known.cloned().ok_or_else(|| Refusal("the session has moved on: ask again".to_owned()))
    }
}
