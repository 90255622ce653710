//! The report that a person reads.

pub mod always;
pub mod event_graph;
pub(crate) mod event_table;
mod explanation;
mod potential_deadlocks;
mod races;
pub mod stalls;

use checker::failure::FailureKind;

use crate::escaping::escaped;
use crate::input::request::{MemoryModel, Strategy};
use crate::narrate::sentences::unwatched;
use crate::report::plural::{grouped, plural};
use crate::report::verdict::Verdict;
use crate::report::{Covered, Finding, Report};
use crate::shell::shown_word;

/// So many lines are shown of the beginning and of the end of what a program wrote, and so many characters of each.
const LINES: usize = 20;
const COLUMNS: usize = 200;

/// The whole report; ends with a line break.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    for (number, finding) in (1..).zip(&report.findings) {
        section(&mut text, &render_finding(finding, (number, report.findings.len())));
    }
    for (number, race) in (1..).zip(&report.races) {
        section(&mut text, &races::section(race, (number, report.races.len())));
    }
    for (number, potential) in (1..).zip(&report.potential_deadlocks) {
        let of = report.potential_deadlocks.len();
        section(&mut text, &potential_deadlocks::section(potential, (number, of)));
    }
    if let Some(stalled) = &report.stalled {
        for (number, finding) in (1..).zip(&stalled.findings) {
            section(&mut text, &render_finding(finding, (number, stalled.findings.len())));
        }
    }
    section(&mut text, &summary(report));
    // File names, symbols and what programs write come from anywhere.
    escaped(&text).into_owned()
}

/// The text for a finding as soon as there is one; the report with its schedule follows at the end. Ends with an empty
/// line.
#[must_use]
pub fn render_at_once(finding: &Finding) -> String {
    let mut text = headlines(finding, if finding.stall.is_some() { "Timing" } else { "Found" });
    section(&mut text, &parties(finding));
    if let Some(file) = &finding.schedule_file {
        section(&mut text, &replay_it(file));
    }
    text.push('\n');
    text
}

/// Separates sections by an empty line.
fn section(text: &mut String, part: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(part);
}

fn render_finding(finding: &Finding, (number, of): (usize, usize)) -> String {
    let why = finding.explanation.as_ref();
    let what = if finding.stall.is_some() { "Timing" } else { "Found" };
    let which = if of > 1 { format!("{what} {number} of {of}") } else { what.to_owned() };
    let mut text = headlines(finding, &which);
    section(&mut text, &parties(finding));
    if finding.kind != FailureKind::AlwaysFails {
        section(&mut text, &event_table::render(finding));
        if let Some(why) = why {
            text.push_str(&explanation::render(finding, why));
        }
    }
    for (stream, written) in
        [("standard output", &finding.output.stdout), ("standard error", &finding.output.stderr)]
    {
        if !written.is_empty() {
            section(&mut text, &output(stream, written));
        }
    }
    if finding.output.truncated {
        line(&mut text, "  … (the rest was left out)");
    }
    if let Some(file) = &finding.schedule_file {
        section(&mut text, &replay_it(file));
    }
    if let Some(original) = why.and_then(|why| why.original.as_ref())
        && let Some(file) = &original.schedule_file
    {
        let found = plural(original.preemptions.into(), "preemption");
        line(&mut text, &format!("As it was found, with {found}: interleaver replay {}", shown_word(file)));
    }
    if let Some(file) = why.and_then(|why| why.pair.as_ref()).and_then(|pair| pair.schedule_file.as_ref()) {
        line(&mut text, &format!("The nearest one that passes: interleaver replay {}", shown_word(file)));
    }
    text
}

fn replay_it(file: &str) -> String {
    format!("Replay it with: interleaver replay {}\n", shown_word(file))
}

/// The failure, its place, and the cost of its schedule.
fn headlines(finding: &Finding, which: &str) -> String {
    let mut text = String::new();
    let kind_and_message = || format!("{} — {}", kind_words(finding.kind), finding.message);
    line(&mut text, &format!("{which}: {}", finding.headline.clone().unwrap_or_else(kind_and_message)));
    let place = finding.place.words();
    if !place.is_empty() {
        line(&mut text, &format!("  at {place}"));
    }
    if finding.kind == FailureKind::AlwaysFails {
        line(&mut text, &format!("  {}", always::sentence(finding)));
        if let Some(hint) = finding.hint {
            line(&mut text, &format!("  {}", always::hint(hint)));
        }
    } else {
        line(&mut text, &format!("  {}", costs(finding)));
    }
    if let Some(stall) = &finding.stall {
        line(&mut text, &format!("  {}", stalls::only_if(stall)));
    }
    if finding.dismissed {
        line(&mut text, "  dismissed: editors do not show it");
    }
    let why = finding.explanation.as_ref().filter(|why| !why.sentence.is_empty());
    if let Some(why) = why {
        line(&mut text, &format!("  why: {}", why.sentence));
    }
    text
}

fn line(text: &mut String, content: &str) {
    text.push_str(content.trim_end());
    text.push('\n');
}

/// The name of a failure's kind as it is in JSON.
pub(crate) fn kind_words(kind: FailureKind) -> String {
    serde_json::to_value(kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default()
}

fn costs(finding: &Finding) -> String {
    let counted = |count: Option<u32>, what: &str| count.map(|count| plural(u64::from(count), what));
    let most = if finding.fewest { "" } else { "≤ " };
    let depth = finding.explanation.as_ref().and_then(|why| why.depth);
    let mut parts: Vec<String> = [
        depth.map(|depth| format!("bug depth {}{}", if depth.exact { "" } else { "≤ " }, depth.value)),
        counted(finding.preemptions, "preemption").map(|count| format!("{most}{count}")),
        counted(finding.explanation.as_ref().map(|why| why.switches), "switch"),
        counted(finding.delays, "delay"),
        counted(finding.threads, "thread"),
        counted(finding.variables, "variable"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if finding.schedule_number > 0 {
        parts.push(format!("schedule {}", grouped(finding.schedule_number)));
    }
    parts.push(format!("reproduced {}", finding.reproduced));
    parts.join(" · ")
}

fn parties(finding: &Finding) -> String {
    let mut text = String::new();
    for party in &finding.parties {
        line(&mut text, &format!("  {} {}", party.thread, party.doing));
        for frame in party.stack.iter().filter(|frame| !frame.words().is_empty()) {
            line(&mut text, &format!("       in {}", frame.words()));
        }
    }
    text
}

/// The output of the program: all of a few lines, else its beginning and its end. The report as JSON has the rest.
fn output(stream: &str, written: &str) -> String {
    let mut text = format!("The program's {stream}:\n");
    let lines: Vec<&str> = written.lines().collect();
    let left_out = match lines.len() {
        all if all > 2 * LINES + 1 => LINES..all - LINES,
        all => all..all,
    };
    for (at, written) in lines.iter().enumerate() {
        if at == left_out.start {
            line(&mut text, &format!("  … ({} lines are left out)", grouped(left_out.len() as u64)));
        }
        if !left_out.contains(&at) {
            line(&mut text, &format!("  | {}", beginning(written)));
        }
    }
    text
}

/// As much of a line as is shown.
fn beginning(line: &str) -> String {
    match line.char_indices().nth(COLUMNS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn summary(report: &Report) -> String {
    let mut text = String::new();
    line(&mut text, &headline(report));
    let few = report.narrow.map_or(0, |narrow| narrow.schedules);
    let executions = report.schedules + report.redundant + report.pruned + few;
    let explanations = report.findings.iter().filter_map(|finding| finding.explanation.as_ref());
    let explaining = explanations.map(|why| why.executions).sum::<u64>().min(report.other);
    let mut counts = vec![plural(report.schedules, "schedule")];
    for (count, what) in [
        (report.deadlocked, "deadlocked"),
        (report.redundant, "redundant"),
        (report.pruned, "pruned"),
        (few, "with few key points"),
        (explaining, "to explain what was found"),
        (report.other - explaining, "other"),
    ] {
        if count > 0 {
            counts.push(format!("{} {what}", grouped(count)));
        }
    }
    line(&mut text, &format!("  explored  {} ({})", report.target, report.strategy));
    line(&mut text, &format!("  ran       {}", counts.join(", ")));
    if executions > 0 && report.replayed.is_none() {
        line(
            &mut text,
            &format!(
                "  speed     {:.2} s, {} schedules/s, {:.1} key points each{}",
                report.elapsed_seconds,
                grouped(report.schedules_per_second.round() as u64),
                report.key_points_per_schedule,
                report.narrow.map_or_else(String::new, |narrow| format!(
                    " ({:.1} with few)",
                    narrow.key_points_per_schedule
                ))
            ),
        );
    }
    if report.replayed.is_none() {
        line(&mut text, &format!("  covered   {}", covered(&report.covered)));
        for unseen in unwatched::lines(&report.not_covered) {
            line(&mut text, &format!("  not seen  {unseen}"));
        }
        for assumed in unwatched::lines(&report.covered.assumes) {
            line(&mut text, &format!("  assumed   {assumed} does not matter"));
        }
        if let Some(promise) = Strategy::named(&report.strategy).and_then(Strategy::promise) {
            line(&mut text, &format!("  promise   {promise}"));
        }
    }
    if let Some(stalled) = &report.stalled {
        line(&mut text, &format!("  timing    {}", stalls::summary(stalled, &covered(&stalled.covered))));
    }
    if let Some(scope) = &report.at_synchronisation {
        line(&mut text, &format!("  scope     {}", scope.message));
    }
    if let Some(races) = races::summary(&report.races, report.suppressed_races) {
        line(&mut text, &format!("  races     {races}"));
    }
    let suppressed = report.suppressed_potential_deadlocks;
    if let Some(locks) = potential_deadlocks::summary(&report.potential_deadlocks, suppressed) {
        line(&mut text, &format!("  locks     {locks}"));
    }
    line(&mut text, &format!("  ended     {}", report.ended));
    for note in &report.notes {
        line(&mut text, &format!("  note      {note}"));
    }
    text
}

fn headline(report: &Report) -> String {
    match (report.verdict, report.findings.len()) {
        (Verdict::Found, 0) => {
            format!("{} found (--fail-on-races).", plural(report.races.len() as u64, "data race"))
        }
        (Verdict::Found, count) => format!("{} found.", plural(count as u64, "bug")),
        (Verdict::Clean, _) if report.replayed.is_some() => "The schedule does not fail.".to_owned(),
        (Verdict::Clean, _) => {
            format!("Nothing found: {} was run, and none failed.", covered(&report.covered))
        }
        (Verdict::Inconclusive, _) if report.is_run() => {
            format!(
                "Nothing found: {} was run, but not everything that ran was watched.",
                covered(&report.covered)
            )
        }
        (Verdict::Inconclusive, _) => {
            "Nothing found, but not every schedule that was asked for was run.".to_owned()
        }
    }
}

/// `every schedule with at most 2 preemptions`, and which of them, should some be left out.
pub(crate) fn covered(covered: &Covered) -> String {
    let bound = |count: u32, what: &str| match count {
        0 => format!("every schedule without {what}s"),
        _ => format!("every schedule with at most {}", plural(u64::from(count), what)),
    };
    let in_turns = covered.in_turns_of.map_or_else(String::new, |yields| {
        format!(" in which no thread yields or sleeps more than {yields} times in a row while another one could go")
    });
    let all = match *covered {
        Covered { everything: true, .. } => "every schedule".to_owned(),
        Covered { preemptions: Some(count), .. } => bound(count, "preemption") + &in_turns,
        Covered { delays: Some(count), .. } => bound(count, "delay") + &in_turns,
        Covered { in_turns_of: Some(_), .. } => format!("every schedule{in_turns}"),
        _ => return "no bound completely".to_owned(),
    };
    let all = match (covered.max_stall_ns, covered.in_turns_of) {
        (Some(longest), Some(_)) => format!("{all}, and {}", stalls::bound(longest)),
        (Some(longest), None) => format!("{all} {}", stalls::bound(longest)),
        (None, _) => all,
    };
    match covered.memory_model {
        Some(MemoryModel::Sc) => format!("{all}, under sequential consistency"),
        Some(MemoryModel::X86) | None => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_much_output_the_beginning_and_the_end_are_shown() {
        let lines = |count: u32| (1..=count).map(|number| format!("{number}\n")).collect::<String>();
        let all = output("standard error", &lines(41));
        assert!(all.ends_with("\n  | 40\n  | 41\n") && all.lines().count() == 42, "{all}");
        let some = output("standard error", &lines(1_042));
        assert_eq!(some.lines().count(), 42);
        assert!(some.contains("\n  | 20\n  … (1,002 lines are left out)\n  | 1023\n"), "{some}");
        let long = output("standard error", &"ü".repeat(201));
        assert!(long.ends_with(&format!("  | {}…\n", "ü".repeat(200))), "{long}");
    }
}
