//! Explanations of failures of model programs.

use super::*;
use crate::model::Model;
use crate::search::{Observer, Progress, explore};
use crate::strategy::StrategyKind;

struct Patient;

impl Observer for Patient {
    fn progress(&mut self, _: &Progress) {}

    fn verdict(&mut self) -> Go {
        Go::Continue
    }
}

fn model(text: &str) -> Model {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn found(text: &str, options: &Options) -> Finding {
    let outcome = explore(&model(text), options, &mut Patient).unwrap();
    outcome.findings.into_iter().next().unwrap_or_else(|| panic!("{text}: nothing was found"))
}

fn by(strategy: StrategyKind, seed: u64) -> Options {
    Options { strategy, seed, ..Options::default() }
}

/// The explanation of what a search finds first.
fn explained(text: &str, options: &Options) -> Explanation {
    explain(&model(text), &found(text, options), options, &mut || Go::Continue)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

const LOST_UPDATE: &str = "create T2, create T3, join T2, join T3, r x, assert x == 2 \
                           | T2: r x, w x x+1 | T3: r x, w x x+1";

/// Two tests before two sets; see `tests/targets/c/spin_flag.c`.
const SPIN_FLAG: &str = "create T2, create T3, join T2, join T3, r x, assert x == 2 \
                         | T2: await f f==0, w f 1, r x, w x x+1, w f 0 \
                         | T3: await f f==0, w f 1, r x, w x x+1, w f 0";

/// A window within a window.
const THREE: &str = "create T2, create T3, create T4 | T2: w u 1, w u 0 \
                     | T3: r u, if u { w o 1, w o 0 } | T4: r o, assert o == 0";

const DEADLOCK: &str =
    "create T2, lock a, lock b, unlock b, unlock a | T2: lock b, lock a, unlock a, unlock b";

#[test]
fn the_fewest_preemptions_are_reached_from_bad_schedules() {
    for (text, preemptions, switches) in
        [(LOST_UPDATE, 1, 4), (SPIN_FLAG, 2, 5), (THREE, 2, 3), (DEADLOCK, 1, 1)]
    {
        for seed in 0..20 {
            let told = explained(text, &by(StrategyKind::Random, seed));
            assert_eq!(told.finding.preemptions, Some(preemptions), "{text}, seed {seed}");
            assert!(told.finding.fewest, "{text}, seed {seed}");
            assert_eq!(told.switches, switches, "{text}, seed {seed}");
        }
    }
}

#[test]
fn depth_is_one_more_than_the_change_points_that_it_takes() {
    for (text, depth) in [
        // Only the order of the threads matters.
        ("create T2, w x | T2: r x, assert x != 0", 1),
        (LOST_UPDATE, 2),
        (DEADLOCK, 2),
        (THREE, 3),
        (SPIN_FLAG, 3),
    ] {
        let told = explained(text, &Options::default());
        assert_eq!(told.depth, Some(Depth { value: depth, exact: true }), "{text}");
    }
}

/// Each read must see another write: seven times a thread is left that could go on.
const ALTERNATING: &str = "create T2, create T3 \
    | T2: r x a, r x b, r x c, r x d, r x e, assert (a*10000 + b*1000 + c*100 + d*10 + e) != 1234 \
    | T3: w x 1, w x 2, w x 3, w x 4";

#[test]
fn what_is_deeper_than_can_be_searched_has_a_bound_that_was_run() {
    let told = explained(ALTERNATING, &by(StrategyKind::Dfs, 0));
    assert_eq!((told.finding.preemptions, told.finding.fewest), (Some(7), true));
    assert_eq!(told.depth, Some(Depth { value: told.switches + 1, exact: false }));
}
