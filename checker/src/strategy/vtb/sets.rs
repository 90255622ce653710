//! The variables of a program, and the sets of them.

use std::collections::BTreeMap;

use crate::event::names::{Obj, Site, ThreadName};
use crate::event::operation::Mode;
use crate::trace::Trace;

/// A variable, or "start": none accessed yet.
pub(super) type Variable = Option<Obj>;

/// The use of a variable in the executions so far.
#[derive(Debug)]
struct VariableUse {
    /// The number of variables that the same code touched first up to this one, and the number of variables that were known
    /// before it.
    iteration: u32,
    nth: u32,
    by: Vec<ThreadName>,
    is_changed: bool,
}

/// All variables seen.
#[derive(Debug, Default)]
pub(super) struct Variables {
    known: BTreeMap<Obj, VariableUse>,
    /// The number of variables that each place in the code touched first.
    first: BTreeMap<Site, u32>,
}

impl Variables {
    /// Takes in an execution; whether it shows that more of them are shared.
    pub(super) fn learn(&mut self, run: &Trace) -> bool {
        let before = self.shared().len();
        for event in run.steps.iter().map(|step| &step.event) {
            for access in &event.op.may.accesses {
                let nth = self.known.len() as u32;
                let used = self.known.entry(access.obj).or_insert_with(|| {
                    let count = self.first.entry(event.site).or_default();
                    *count += 1;
                    VariableUse { iteration: *count, nth, by: Vec::new(), is_changed: false }
                });
                used.is_changed |= access.mode != Mode::Read;
                if !used.by.contains(&event.id.thread) {
                    used.by.push(event.id.thread);
                }
            }
        }
        self.shared().len() > before
    }

    /// Those that two threads touched, one of them changing it, by loop iteration number; "start" is the first.
    pub(super) fn shared(&self) -> Vec<Variable> {
        let shared = self.known.iter().filter(|(_, used)| used.is_changed && used.by.len() > 1);
        let mut ranked: Vec<(u32, u32, Obj)> =
            shared.map(|(&obj, used)| (used.iteration, used.nth, obj)).collect();
        ranked.sort_unstable();
        std::iter::once(None).chain(ranked.into_iter().map(|(.., obj)| Some(obj))).collect()
    }
}

/// The sets of a size, those of the first variables first.
#[derive(Debug, Default)]
pub(super) struct Sets {
    variables: Vec<Variable>,
    /// The variables of the next set, in order.
    next: Option<Vec<usize>>,
}

impl Sets {
    pub(super) fn of(variables: Vec<Variable>, size: usize) -> Self {
        let next = (size <= variables.len()).then(|| (0..size).collect());
        Self { variables, next }
    }

    /// The next set.
    pub(super) fn next(&mut self) -> Option<Vec<Variable>> {
        let chosen = self.next.take()?;
        let set = chosen.iter().map(|&nth| self.variables[nth]).collect();
        self.next = successor(chosen, self.variables.len());
        Some(set)
    }
}

/// The next subset of `0..count` in colexicographic order, which goes by the greatest member.
fn successor(mut chosen: Vec<usize>, count: usize) -> Option<Vec<usize>> {
    let limit = |nth: usize, chosen: &[usize]| chosen.get(nth + 1).copied().unwrap_or(count);
    let movable = (0..chosen.len()).find(|&nth| chosen[nth] + 1 < limit(nth, &chosen))?;
    chosen[movable] += 1;
    (0..movable).for_each(|nth| chosen[nth] = nth);
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_comes_once_and_those_of_early_variables_first() {
        let variables: Vec<Variable> = (0..4).map(|name| Some(Obj::whole(name))).collect();
        let mut sets = Sets::of(variables, 2);
        let names = |set: Vec<Variable>| set.into_iter().flatten().map(|obj| obj.name.0).collect::<Vec<_>>();
        let all: Vec<Vec<u64>> = std::iter::from_fn(|| sets.next()).map(names).collect();
        assert_eq!(all, [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]);
        assert_eq!(Sets::of(Vec::new(), 0).next(), Some(Vec::new()));
        assert_eq!(Sets::of(Vec::new(), 1).next(), None);
    }
}
