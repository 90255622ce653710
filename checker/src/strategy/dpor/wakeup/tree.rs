//! Wakeup trees: what is still to be explored from one state, as sequences without common beginnings.

use crate::strategy::dpor::moves::{Move, WeakInitial, first};

/// An ordered tree of moves; what stands first is explored first.
#[derive(Clone, Debug, Default)]
pub(super) struct WakeupTree(Vec<(Move, WakeupTree)>);

impl WakeupTree {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a sequence, unless one that is there leads to it already. JACM 2017, section 6.2.
    pub(super) fn insert(&mut self, mut sequence: Vec<Move>) {
        let branch = self.0.iter_mut().find_map(|(head, below)| Some((first(head, &sequence)?, below)));
        let Some((found, below)) = branch else {
            let chain =
                sequence.into_iter().rev().fold(Self::default(), |below, head| Self(vec![(head, below)]));
            self.0.extend(chain.0);
            return;
        };
        if let WeakInitial::At(at) = found {
            sequence.remove(at);
        }
        if !below.is_empty() && !sequence.is_empty() {
            below.insert(sequence);
        }
    }

    /// Takes the first sequence out, with what is left to explore after each of its moves but the last.
    pub(super) fn take_first(&mut self) -> Option<(Vec<Move>, Vec<Self>)> {
        if self.0.is_empty() {
            return None;
        }
        let (head, mut below) = self.0.remove(0);
        let (mut moves, mut left) = (vec![head], Vec::new());
        while let Some((more, deeper)) = below.take_one() {
            left.push(std::mem::replace(&mut below, deeper));
            moves.push(more);
        }
        Some((moves, left))
    }

    fn take_one(&mut self) -> Option<(Move, Self)> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }
}
