//! Terms: what threads load and store, and with which results they can end. The enumerator goes through the interleavings of loads
//! and stores, and knows nothing of the tool.

use std::collections::{BTreeMap, BTreeSet};

use crate::numbers::Numbers;

/// More outcomes than these are not looked for one by one.
const MOST: usize = 5;

/// No cell comes to more than this: it fits into a byte, and with an offset into a printable character.
const LARGEST: u32 = 90;

/// An operation on one cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Deed {
    /// A load, and then a store of so many times the value, and so much more.
    Change { factor: u32, more: u32 },
    /// A store.
    Store(u32),
    /// A load, whose value is a result.
    Load,
}

/// One deed of a thread.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Step {
    pub(super) deed: Deed,
    /// Its cell.
    pub(super) cell: usize,
    /// Whether it holds the mutex meanwhile.
    pub(super) is_locked: bool,
}

/// Cells with their first values, and the operations of threads on them.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) cells: Vec<u32>,
    pub(super) threads: Vec<Vec<Step>>,
}

/// An atomic step of a thread.
#[derive(Clone, Copy)]
enum Move {
    Lock,
    Unlock,
    /// Into the register, from a cell; whether it is a result.
    Load(usize, bool),
    /// The register with a factor and a summand, to a cell.
    Change(usize, u32, u32),
    Store(usize, u32),
}

/// An execution up to somewhere.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    cells: Vec<u32>,
    /// The thread that holds the mutex.
    holder: Option<usize>,
    /// For each thread, the number of moves that it has made, the value in its register, and its results.
    threads: Vec<(usize, u32, Vec<u32>)>,
}

impl State {
    /// The state after the next move of a thread, if it can move.
    fn after(&self, moves: &[Vec<Move>], thread: usize) -> Option<Self> {
        let mut after = self.clone();
        let (done, register, results) = &mut after.threads[thread];
        let next = *moves[thread].get(*done)?;
        *done += 1;
        match next {
            Move::Lock if after.holder.is_some() => return None,
            Move::Lock => after.holder = Some(thread),
            Move::Unlock => after.holder = None,
            Move::Load(cell, is_result) => {
                *register = after.cells[cell];
                if is_result {
                    results.push(*register);
                }
            }
            Move::Change(cell, factor, more) => after.cells[cell] = *register * factor + more,
            Move::Store(cell, value) => after.cells[cell] = value,
        }
        Some(after)
    }

    /// The outcome, if this is the end: the cells, and then the results of each thread.
    fn outcome(&self) -> String {
        let results = self.threads.iter().flat_map(|(_, _, results)| results);
        let all: Vec<String> = self.cells.iter().chain(results).map(u32::to_string).collect();
        all.join(".")
    }
}

impl Term {
    /// A term with more than one outcome, but few.
    pub(super) fn draw(numbers: &mut Numbers) -> Self {
        loop {
            let cells = 1 + numbers.below(2);
            let threads = if numbers.below(5) == 0 { 3 } else { 2 };
            let mut step = || {
                let deed = match numbers.below(6) {
                    0..3 => Deed::Change {
                        factor: 1 + numbers.below(2) as u32,
                        more: 1 + numbers.below(3) as u32,
                    },
                    3 => Deed::Store(1 + numbers.below(9) as u32),
                    _ => Deed::Load,
                };
                Step { deed, cell: numbers.below(cells) as usize, is_locked: numbers.below(6) == 0 }
            };
            let mut thread = |longest: usize| (0..longest).map(|_| step()).collect::<Vec<_>>();
            let threads: Vec<_> = match threads {
                2 => (0..2).map(|_| thread(2)).collect(),
                _ => (0..3).map(|_| thread(1)).collect(),
            };
            let mut term = Self { cells: (0..cells as u32).collect(), threads };
            for steps in &mut term.threads {
                let length = 1 + numbers.below(3) as usize;
                steps.truncate(length);
            }
            if term.outcomes().is_some_and(|outcomes| (2..=MOST).contains(&outcomes.len())) {
                return term;
            }
        }
    }

    /// Number of its loads and stores.
    pub(super) fn accesses(&self) -> usize {
        let of = |step: &Step| if matches!(step.deed, Deed::Change { .. }) { 2 } else { 1 };
        self.threads.iter().flatten().map(of).sum()
    }

    /// The least number of preemptions with which an outcome comes about, for each of them. A preemption is the end of a thread's
    /// turn where it could go on.
    pub(super) fn preemptions(&self) -> BTreeMap<String, usize> {
        let moves: Vec<Vec<Move>> = self.threads.iter().map(|steps| moves(steps)).collect();
        let mut least = BTreeMap::new();
        let mut known = BTreeSet::new();
        let mut turns: BTreeSet<(State, usize)> =
            (0..moves.len()).map(|thread| (self.start(), thread)).collect();
        for preemptions in 0.. {
            // Turns that begin with one preemption more.
            let mut later = BTreeSet::new();
            while let Some((state, thread)) = turns.pop_first() {
                if !known.insert((state.clone(), thread)) {
                    continue;
                }
                let others = (0..moves.len()).filter(|&other| other != thread);
                let others = others.map(|other| (state.clone(), other));
                let is_over = |thread: usize| state.threads[thread].0 == moves[thread].len();
                match state.after(&moves, thread) {
                    Some(after) => {
                        turns.insert((after, thread));
                        later.extend(others);
                    }
                    None if (0..moves.len()).all(is_over) => {
                        least.entry(state.outcome()).or_insert(preemptions);
                    }
                    None => turns.extend(others),
                }
            }
            if later.is_empty() {
                break;
            }
            turns = later;
        }
        least
    }

    fn start(&self) -> State {
        let threads = vec![(0, 0, Vec::new()); self.threads.len()];
        State { cells: self.cells.clone(), holder: None, threads }
    }

    /// Every outcome, as the program prints it: the cells, and then the results of each thread. None where a cell grows too large.
    pub(super) fn outcomes(&self) -> Option<BTreeSet<String>> {
        let moves: Vec<Vec<Move>> = self.threads.iter().map(|steps| moves(steps)).collect();
        let mut known = BTreeSet::new();
        let mut outcomes = BTreeSet::new();
        continue_with(&moves, &self.start(), &mut known, &mut outcomes).then_some(outcomes)
    }
}

/// The atomic steps of a thread.
fn moves(steps: &[Step]) -> Vec<Move> {
    let mut moves = Vec::new();
    for &Step { deed, cell, is_locked } in steps {
        if is_locked {
            moves.push(Move::Lock);
        }
        match deed {
            Deed::Change { factor, more } => {
                moves.extend([Move::Load(cell, false), Move::Change(cell, factor, more)]);
            }
            Deed::Store(value) => moves.push(Move::Store(cell, value)),
            Deed::Load => moves.push(Move::Load(cell, true)),
        }
        if is_locked {
            moves.push(Move::Unlock);
        }
    }
    moves
}

/// Goes on from a state in every way. False where a cell grows too large.
fn continue_with(
    moves: &[Vec<Move>],
    state: &State,
    known: &mut BTreeSet<State>,
    outcomes: &mut BTreeSet<String>,
) -> bool {
    if !known.insert(state.clone()) {
        return true;
    }
    let mut is_over = true;
    for (thread, moves_of) in moves.iter().enumerate() {
        is_over &= state.threads[thread].0 == moves_of.len();
        let Some(after) = state.after(moves, thread) else { continue };
        let fits = after.cells.iter().all(|&value| value <= LARGEST);
        if !fits || !continue_with(moves, &after, known, outcomes) {
            return false;
        }
    }
    if is_over {
        outcomes.insert(state.outcome());
    }
    true
}
