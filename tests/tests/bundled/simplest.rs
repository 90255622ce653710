//! From whatever schedule a bundled bug is found with, the simplest one is reached: the fewest preemptions, which the
//! comment at the head of its source argues for, known to be the fewest.

use std::ffi::OsStr;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use tests::{Build, Expectation, Optimisation, Target, Tool, is_sampled};

/// The search's minute, and what the explanation takes.
const LIMIT: Duration = Duration::from_secs(90);

/// The seed of the random schedules.
const SEED: &str = "1";

/// Of the bugs, one in so many is in the sample.
const ONE_IN: usize = 5;

/// Bugs that are looked at in optimised code as well.
const OPTIMISED: [&str; 4] = ["lost_update", "lock_order", "three_threads", "work_stealing"];

pub(crate) fn trials(targets: &[Target]) -> Vec<Trial> {
    let bugs = targets.iter().filter(|target| target.is_bug());
    let trials = bugs.enumerate().flat_map(|(place, target)| {
        let is_optimised = OPTIMISED.contains(&&*target.name);
        let levels =
            Optimisation::ALL.into_iter().filter(move |&level| level == Optimisation::O0 || is_optimised);
        levels.map(move |level| {
            let target = target.clone();
            let name = format!("simplest/{}/{}/{}", target.language.folder(), target.name, level.name());
            Trial::test(name, move || check(&target, level)).with_ignored_flag(!is_sampled(place, ONE_IN))
        })
    });
    trials.collect()
}

fn check(target: &Target, level: Optimisation) -> Result<(), Failed> {
    let Expectation::Found { kind, preemptions } = &target.expectation else { return Ok(()) };
    let program = Build::new(target.source(), level).program()?;
    let folder = tempfile::tempdir()?;
    // With other seeds, the owner in Rust's work stealing is the one that comes second: another failure, with 3 preemptions.
    let options = ["--strategy", "random", "--max-schedules", "20000", "--seed", SEED, "--output"];
    let options = options.iter().map(OsStr::new).chain([folder.path().as_os_str()]);
    let outcome = Tool::explain(options, &program).within(LIMIT).run()?;
    let finding = outcome.finding();
    let reached = (finding["kind"].as_str(), finding["preemptions"].as_u64(), finding["fewest"].as_bool());
    if reached != (Some(kind), Some(*preemptions), Some(true)) {
        return Err(
            format!("expected {kind} with {preemptions}, got {reached:?}\n{}", outcome.transcript()).into()
        );
    }
    let explanation = &finding["explanation"];
    let simplest = finding["schedule_file"].as_str().unwrap_or_default();
    let schedules = [simplest].into_iter().chain(explanation["original"]["schedule_file"].as_str());
    for schedule in schedules {
        let replayed = Tool::new(["replay", "--format", "json", schedule]).within(LIMIT).run()?;
        if replayed.finding()["kind"].as_str() != Some(kind) {
            return Err(format!("{schedule} shows something else\n{}", replayed.transcript()).into());
        }
    }
    Ok(())
}
