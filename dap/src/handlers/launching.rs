//! Launching: the opening of a session.

use explorer::debug::{self, Controls, Opening, Session};
use serde_json::{Value, json};

use crate::handlers::breakpoints::filters;
use crate::protocol::{LaunchArguments, Request};
use crate::request::{Launched, Numbering, Refusal, arguments};

/// The client's numbering, and the capabilities that it is told of.
pub(crate) fn initialize(request: &Request) -> (Numbering, Value) {
    let starts = |name: &str| request.arguments[name].as_bool().unwrap_or(true);
    let numbering =
        Numbering { lines_from_one: starts("linesStartAt1"), columns_from_one: starts("columnsStartAt1") };
    let supported = json!({
        "supportsConfigurationDoneRequest": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "supportsDelayedStackTraceLoading": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsLoadedSourcesRequest": true,
        "supportsEvaluateForHovers": true,
        "supportsExceptionInfoRequest": true,
        "exceptionBreakpointFilters": filters(),
    });
    (numbering, supported)
}

pub(crate) fn launch(
    launched: Launched<'_>,
    controls: &Controls,
    request: &Request,
) -> Result<(Session, Opening), Refusal> {
    if launched.0.is_some() {
        return Err(Refusal("a schedule has been launched already".to_owned()));
    }
    let launch: LaunchArguments = arguments(request)?;
    let folder = match launch.folder {
        Some(folder) => folder,
        None => std::env::current_dir().map_err(|error| Refusal(format!("there is no folder: {error}")))?,
    };
    let wanted = debug::LaunchRequest {
        schedule: folder.join(launch.schedule),
        program: launch.program.map(|program| folder.join(program)),
        folder,
        trusted: launch.trusted,
    };
    Ok(Session::open(wanted, controls.clone())?)
}
