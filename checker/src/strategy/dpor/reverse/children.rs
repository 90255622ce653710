//! The executions of which one is the parent: each of its races the other way round, if that leads back to it.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use super::canonical::Canon;
use super::child::child;
use super::frame::{Child, Kept, Origin};
use crate::event::agent::{Agent, Pick};
use crate::event::lock_action::Hold;
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::limit::Limit;
use crate::strategy::dpor::locks::Need;
use crate::strategy::dpor::races::Races;
use crate::strategy::dpor::successor::Successor;

/// What tells a child from the others of its parent: where it branches off, what it keeps, and what comes then.
type ChildKey = (Position, Kept, Agent, Option<Pick>);

/// Of this many readers that keep a writer out at once, any may come after it. There are as many sets of them to look at as
/// there can be children; with more readers the search is not complete.
const READERS: usize = 12;

/// All children of an execution, and whether these are all.
pub(super) fn all(
    races: &Races<'_>,
    canon: &Canon<'_, '_>,
    (origin, limit): (&Origin, &Limit),
    to: Position,
) -> (Vec<Child>, bool) {
    let mut children: Vec<Child> = Vec::new();
    let mut seen: FxHashSet<ChildKey> = FxHashSet::default();
    let mut whole = true;
    for later in races.laters(Position::START, to) {
        if Need::of(later.key.kind) == Need::Order {
            continue;
        }
        // The other ways of an event are those where it is; elsewhere it may have others, which are seen there.
        let is_other = |closer: Position| races.run.steps[closer].choice.agent == later.agent;
        let rivals = races.rivals(&later);
        // What can always run came right after the last one of those that it conflicts with, or it was not in a hurry.
        let hurries = later.ran && Need::of(later.key.kind) == Need::Nothing;
        let mut last: Vec<Position> = Vec::new();
        for &earlier in &rivals {
            if limit.is_over() {
                return (children, false);
            }
            if hurries {
                if last.iter().rev().any(|&rival| races.is_undone(rival, &[earlier])) {
                    continue;
                }
                last.push(earlier);
            }
            let is_elsewhere = later.closer.is_some_and(|closer| is_other(closer) && closer != earlier);
            if origin.scheduled[earlier] || is_elsewhere {
                continue;
            }
            let (sets, all) = undone(races, &later, earlier, &rivals);
            whole &= all;
            for undone in sets {
                let Some(child) = child(races, canon, origin, &later, &undone) else { continue };
                if seen.insert((child.at, child.keep.clone(), child.next.agent, child.next.pick)) {
                    children.push(child);
                }
            }
        }
    }
    // The last one comes first: those of lesser threads show what the others need to know.
    children.sort_by_key(|child| Reverse(child.next.agent.thread()));
    (children, whole)
}

/// With which events besides the earlier one of a race it can be reversed. A writer can come before some of the readers that
/// keep it out, and after the others.
fn undone(
    races: &Races<'_>,
    later: &Successor<'_>,
    earlier: Position,
    rivals: &[Position],
) -> (Vec<Vec<Position>>, bool) {
    let mut sets = vec![vec![earlier]];
    if later.key.kind != OpKind::WriteLock {
        return (sets, true);
    }
    let is_reader = |&at: &Position| {
        at > earlier
            && races.run.steps[at].event.acquired() == Some(Hold::Shared)
            && !races.is_undone(at, &[earlier])
    };
    let readers: Vec<Position> = rivals.iter().copied().filter(is_reader).collect();
    for &reader in readers.iter().take(READERS) {
        let with = |set: &Vec<Position>| set.iter().copied().chain([reader]).collect();
        let more: Vec<Vec<Position>> = sets.iter().map(with).collect();
        sets.extend(more);
    }
    (sets, readers.len() <= READERS)
}
