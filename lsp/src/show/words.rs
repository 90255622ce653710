//! The words of lenses, progress and diagnostics.

use explorer::render::always;
use explorer::report::Finding;
use explorer::report::plural::{grouped, plural};
use explorer::report::verdict::Verdict;
use explorer::store::findings::Run;
use explorer::verbs::watch::Progress;

/// Text of a lens while its target is explored: `● 1,204 schedules · c = 1 · 1 bug`.
pub(crate) fn running(progress: Option<&Progress>, bugs: usize) -> String {
    let Some(progress) = progress else { return "● starting".to_owned() };
    let bugs = if bugs == 0 { String::new() } else { format!(" · {}", plural(bugs as u64, "bug")) };
    format!("● {}{}{bugs}", plural(progress.schedules, "schedule"), bound(progress))
}

/// Text of the progress of a job.
pub(crate) fn progress(progress: &Progress, bugs: usize) -> String {
    format!(
        "{} · {}/s{} · {}",
        plural(progress.schedules, "schedule"),
        grouped(progress.schedules_per_second.round() as u64),
        bound(progress),
        plural(bugs as u64, "bug")
    )
}

fn bound(progress: &Progress) -> String {
    progress.bound.map(|bound| format!(" · c = {bound}")).unwrap_or_default()
}

/// State of a target's bugs after a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct BugSummary {
    /// Those that are not fixed.
    pub(crate) open: usize,
    /// Further ones that show only where a thread is stalled.
    pub(crate) timing: usize,
    /// The fewest preemptions that show one.
    pub(crate) preemptions: Option<u32>,
    /// Whether fewer were ruled out.
    pub(crate) fewest: bool,
    /// It always fails: in so many schedules, or in every one.
    pub(crate) always: Option<Option<u64>>,
}

/// Text of a lens after a run: `✓ no failure up to 2 preemptions · 8,480 schedules`.
pub(crate) fn after(run: &Run, bugs: BugSummary) -> String {
    let schedules = plural(run.ran(), "schedule");
    if let Some(tried) = bugs.always {
        return format!("✗ {}", always::in_short(tried));
    }
    if bugs.open > 0 {
        let most = if bugs.fewest { "" } else { "≤ " };
        let depth = bugs.preemptions.map(|count| format!(" · {most}{}", plural(count.into(), "preemption")));
        let bugs = format!("✗ {}{}", plural(bugs.open as u64, "bug"), depth.unwrap_or_default());
        // A run that was stopped before its first schedule has not found them.
        return if run.ran() == 0 { bugs } else { format!("{bugs} · {schedules}") };
    }
    if bugs.timing > 0 {
        return format!("⚠ fails only if a thread is stalled · {schedules}");
    }
    let up_to = run.covered.up_to();
    match run.verdict {
        _ if run.has_no_threads() => "creates no threads: nothing to explore".to_owned(),
        Verdict::Found if run.findings.is_empty() => format!("✗ data races · {schedules}"),
        Verdict::Found => {
            format!("? {} dismissed · {schedules}", plural(run.findings.len() as u64, "failure"))
        }
        Verdict::Clean if !up_to.is_empty() => format!("✓ no failure {up_to} · {schedules}"),
        _ if up_to.is_empty() => format!("? no failure so far · {schedules} · {}", run.reason()),
        _ => format!("? no failure {up_to}, then {} · {schedules}", run.reason()),
    }
}

/// Depth of a bug: `bug depth 2 · 1 preemption`; `depth ≤ 4 · ≤ 2 preempt.` where that is longer than `longest`.
pub(crate) fn depth(finding: &Finding, longest: usize) -> Option<String> {
    let fewest = if finding.fewest { "" } else { "≤ " };
    let preemptions = finding.preemptions?;
    let words = plural(preemptions.into(), "preemption");
    let Some(depth) = finding.explanation.as_ref().and_then(|why| why.depth) else {
        return Some(format!("{fewest}{words}"));
    };
    let exact = if depth.exact { "" } else { "≤ " };
    let long = format!("bug depth {exact}{} · {fewest}{words}", depth.value);
    let is_short = long.chars().count() <= longest;
    Some(if is_short {
        long
    } else {
        format!("depth {exact}{} · {fewest}{preemptions} preempt.", depth.value)
    })
}

#[cfg(test)]
mod tests {
    use explorer::report::Covered;
    use serde_json::json;

    use super::*;

    fn run(verdict: Verdict, preemptions: Option<u32>, ended: &str) -> Run {
        Run {
            potential_deadlocks: Vec::new(),
            at: 0,
            verdict,
            strategy: "icb".to_owned(),
            executions: 8_480,
            schedules: 8_000,
            redundant: 7,
            pruned: 8,
            other: 9,
            threads: 2,
            covered: Covered { preemptions, ..Covered::default() },
            complete: false,
            not_covered: Vec::new(),
            ended: ended.to_owned(),
            reason: None,
            notes: Vec::new(),
            findings: Vec::new(),
        }
    }

    #[test]
    fn lenses_after_a_run() {
        let bugs =
            |open, preemptions| BugSummary { open, preemptions, fewest: true, ..BugSummary::default() };
        for (run, bugs, expected) in [
            (
                run(Verdict::Clean, Some(2), ""),
                bugs(0, None),
                "✓ no failure up to 2 preemptions · 8,480 schedules",
            ),
            (run(Verdict::Found, Some(0), ""), bugs(2, Some(1)), "✗ 2 bugs · 1 preemption · 8,480 schedules"),
            (
                run(Verdict::Found, None, ""),
                BugSummary { fewest: false, ..bugs(1, Some(3)) },
                "✗ 1 bug · ≤ 3 preemptions · 8,480 schedules",
            ),
            (
                Run { executions: 0, schedules: 0, ..run(Verdict::Inconclusive, None, "it was stopped") },
                bugs(1, Some(1)),
                "✗ 1 bug · 1 preemption",
            ),
            (
                Run { findings: vec!["crash-1".to_owned()], ..run(Verdict::Found, Some(2), "") },
                bugs(0, None),
                "? 1 failure dismissed · 8,480 schedules",
            ),
            (run(Verdict::Found, Some(2), ""), bugs(0, None), "✗ data races · 8,480 schedules"),
            (
                Run { threads: 1, ..run(Verdict::Clean, Some(2), "") },
                bugs(0, None),
                "creates no threads: nothing to explore",
            ),
            (
                Run { threads: 1, ..run(Verdict::Inconclusive, Some(2), "it was stopped") },
                bugs(0, None),
                "? no failure up to 2 preemptions, then it was stopped · 8,480 schedules",
            ),
            (
                run(Verdict::Inconclusive, None, "it was stopped"),
                bugs(0, None),
                "? no failure so far · 8,480 schedules · it was stopped",
            ),
            (
                run(Verdict::Inconclusive, Some(1), "its time was up after 60s (--time-limit)"),
                bugs(0, None),
                "? no failure up to 1 preemption, then its time was up after 60s · 8,480 schedules",
            ),
            (
                run(Verdict::Found, Some(0), ""),
                BugSummary {
                    open: 1,
                    preemptions: Some(0),
                    fewest: true,
                    always: Some(None),
                    ..BugSummary::default()
                },
                "✗ fails whatever the schedule",
            ),
            (
                run(Verdict::Found, Some(0), ""),
                BugSummary {
                    open: 1,
                    preemptions: Some(0),
                    fewest: true,
                    always: Some(Some(1401)),
                    ..BugSummary::default()
                },
                "✗ failed in all 1,401 schedules that were run",
            ),
        ] {
            assert_eq!(after(&run, bugs), expected);
        }
    }

    #[test]
    fn depths_are_short_enough() {
        for (depth, exact, preemptions, fewest, expected) in [
            (Some(2), true, 1, true, "bug depth 2 · 1 preemption"),
            (Some(3), true, 2, true, "bug depth 3 · 2 preemptions"),
            (Some(3), true, 2, false, "depth 3 · ≤ 2 preempt."),
            (Some(4), false, 2, false, "depth ≤ 4 · ≤ 2 preempt."),
            (None, false, 2, false, "≤ 2 preemptions"),
        ] {
            let explanation =
                json!({ "switches": 3, "depth": { "value": depth, "exact": exact }, "executions": 9 });
            let finding: Finding = serde_json::from_value(json!({
                "kind": "assertion", "message": "", "thread": null, "schedule_number": 1, "delays": null,
                "threads": null, "variables": null, "reproduced": "2/2", "schedule_file": null, "parties": [],
                "lanes": [], "events": [], "output": { "stdout": "", "stderr": "", "truncated": false },
                "file": null, "line": null, "function": null,
                "preemptions": preemptions, "fewest": fewest,
                "explanation": depth.map(|_| explanation),
            }))
            .unwrap();
            assert_eq!(super::depth(&finding, 28).as_deref(), Some(expected));
            assert!(expected.chars().count() <= 28);
        }
    }

    #[test]
    fn lenses_during_a_run() {
        let progress =
            Progress { schedules: 1_204, schedules_per_second: 812.4, bound: Some(1), findings: 1 };
        assert_eq!(running(Some(&progress), 1), "● 1,204 schedules · c = 1 · 1 bug");
        assert_eq!(running(Some(&progress), 0), "● 1,204 schedules · c = 1");
        assert_eq!(super::progress(&progress, 1), "1,204 schedules · 812/s · c = 1 · 1 bug");
        assert_eq!(running(None, 0), "● starting");
    }
}
