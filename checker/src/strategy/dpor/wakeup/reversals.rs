//! The races of an execution, each one the other way round.

use crate::strategy::dpor::later::Later;
use crate::strategy::dpor::locks::{Can, Need};
use crate::strategy::dpor::moves::Move;
use crate::strategy::dpor::races::Races;

/// A race the other way round.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Reversal {
    /// How many events of the execution come first.
    pub(super) at: usize,
    /// What comes then.
    pub(super) moves: Vec<Move>,
}

impl Races<'_> {
    /// Every race whose later operation is at `from` or after, but before `to`, reversed.
    pub(super) fn reversals(&self, from: usize, to: usize) -> Vec<Reversal> {
        let mut all = Vec::new();
        self.later(from, to).for_each(|later| self.of(&later, &mut all));
        all
    }

    fn of(&self, later: &Later<'_>, into: &mut Vec<Reversal>) {
        if Need::of(later.key.kind) == Need::Order {
            return;
        }
        let mut reversed: Vec<usize> = Vec::new();
        for earlier in self.rivals(later) {
            if reversed.iter().any(|&done| self.is_after(done, earlier)) {
                continue;
            }
            let mut undone = vec![earlier];
            let can = self.can_run(later, &mut undone);
            if can == Can::No {
                continue;
            }
            if can == Can::Yes {
                reversed.push(earlier);
            }
            into.push(self.reversal(later, &undone, can == Can::Yes));
        }
    }

    fn reversal(&self, later: &Later<'_>, undone: &[usize], certain: bool) -> Reversal {
        let at = undone.iter().copied().min().unwrap_or(0);
        let kept = (at..later.before).filter(|&position| !self.is_undone(position, undone));
        let mut moves: Vec<Move> = kept.map(|position| Move::of(&self.run.steps[position])).collect();
        moves.push(later.as_move(certain));
        Reversal { at, moves }
    }
}
