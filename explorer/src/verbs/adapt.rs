//! Does a schedule still apply to a later build? Its instructions have moved; operations and functions need not have.

use checker::limit::Limit;
use checker::program::{Choice, Execution, ExecutionError, OpKey, Program, Scope, Stop, Until};
use checker::search::{self, Observer, Options, Progress, SearchError};
use checker::strategy::StrategyKind;

use crate::error::Error;
use crate::narrate::locations::Places;
use crate::schedule_file::{SavedChoice, function};

/// Number of random schedules that show a program's key points before a schedule is said not to apply.
const LESSONS: u64 = 200;

/// The schedule in the instructions of this build. `limit` ends it.
///
/// A build that was never explored has few key points, so that threads run past places where the schedule stops them:
/// where it does not fit, key points are looked for before it is tried again.
///
/// # Errors
/// At the first choice that is not possible, or that runs another operation or one in another function.
pub(crate) fn adapt<P: Program>(
    program: &P,
    choices: &[SavedChoice],
    places: &Places<'_>,
    limit: &Limit,
) -> Result<Vec<(Choice, OpKey)>, Error> {
    let mut known = None;
    loop {
        let epoch = program.epoch();
        match attempt(program, choices, places) {
            Ok(Some(steps)) => return Ok(steps),
            Ok(None) => {}
            Err(Error::NoLongerApplies { .. }) if known != Some(epoch) => {
                learn(program, limit)?;
                known = Some(program.epoch());
            }
            Err(error) => return Err(error),
        }
        if limit.is_over() {
            return Err(Error::Search(SearchError::Stopped));
        }
    }
}

/// Runs schedules only for the key points that they show.
fn learn<P: Program>(program: &P, limit: &Limit) -> Result<(), Error> {
    let options = Options {
        strategy: StrategyKind::Random,
        max_schedules: Some(LESSONS),
        keep_going: true,
        limit: limit.clone(),
        ..Options::default()
    };
    search::explore(program, &options, &mut Silent).map(drop).map_err(Error::Search)
}

struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) {}
}

/// One execution by these choices; `None` if key points were added under it.
fn attempt<P: Program>(
    program: &P,
    choices: &[SavedChoice],
    places: &Places<'_>,
) -> Result<Option<Vec<(Choice, OpKey)>>, Error> {
    let mut run = program.start(&Scope::All).map_err(|error| Error::Search(error.into()))?;
    let steps = follow(&mut run, choices, places);
    run.finish();
    steps
}

fn follow(
    run: &mut impl Execution,
    choices: &[SavedChoice],
    places: &Places<'_>,
) -> Result<Option<Vec<(Choice, OpKey)>>, Error> {
    let mut steps = Vec::with_capacity(choices.len());
    for (at, saved) in choices.iter().enumerate() {
        let choice = saved.choice();
        let differs = |got: String| Error::NoLongerApplies { at, expected: words(saved), got };
        let view = run.agents().iter().find(|view| view.agent == choice.agent);
        let Some((view, pending)) = view.and_then(|view| Some((view, view.pending.as_ref()?))) else {
            return Err(differs(format!("{} has ended, or never starts", saved.thread)));
        };
        let key = OpKey { kind: pending.kind, site: view.site };
        let place = places.of_pending(run, saved.thread, key.site);
        if key.kind != saved.operation || place.function.as_deref() != Some(function(&saved.at)) {
            return Err(differs(format!("{} {} in {}", saved.thread, key.kind, place.words())));
        }
        match run.run(choice, &Until::one()) {
            Ok(batch) if batch.stop == Stop::Promoted => return Ok(None),
            Ok(_) => steps.push((choice, key)),
            Err(ExecutionError::Impossible(why)) => return Err(differs(why.to_string())),
            Err(error) => return Err(Error::Search(error.into())),
        }
    }
    Ok(Some(steps))
}

fn words(saved: &SavedChoice) -> String {
    format!("{} {} in {}", saved.thread, saved.operation, saved.at)
}
