//! Result of a search that switched threads at synchronisation only: enough where no execution had a data race.

use checker::search::SearchOutcome;

use crate::error::Error;
use crate::input::request::{Request, Strategy};
use crate::render;
use crate::report::{AtSynchronisation, Covered, Race};
use crate::say::sentence;

/// Refuses what such a search cannot do.
pub(crate) fn check(request: &Request) -> Result<(), Error> {
    if !request.only_synchronisation {
        return Ok(());
    }
    if !request.strategy.takes_any_choices() {
        let others = Strategy::ALL.into_iter().filter(|strategy| strategy.takes_any_choices());
        let others = others.map(Strategy::name).collect();
        return Err(Error::Scope { strategy: request.strategy.name(), others });
    }
    if request.races { Ok(()) } else { Err(Error::ScopeWithoutRaces) }
}

/// The result; `None` where threads were switched at every operation.
pub(crate) fn report(outcome: &SearchOutcome, races: &[Race]) -> Option<AtSynchronisation> {
    let covered: Covered = outcome.at_synchronisation?.into();
    let is_nothing = covered == Covered::default();
    let suffices = match races {
        [] => (!is_nothing).then_some(true),
        _ => Some(false),
    };
    let how = "threads were switched at synchronisation only (--scope sync)";
    let message = match races {
        [] if is_nothing => format!("{how}; whether that is enough is not known: no bound was covered"),
        [] => format!("{how}, which is enough for what is covered: no data race was seen"),
        [race, ..] if is_nothing => format!("{how}, which is not enough: {}", race.message),
        [race, ..] => format!(
            "{how}, which is not enough: {}. Of the schedules that do so, these were run: {}",
            race.message,
            render::covered(&covered)
        ),
    };
    Some(AtSynchronisation { covered, suffices, message: sentence(message) })
}
