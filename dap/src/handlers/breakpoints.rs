//! Breakpoints, and the filters that stop at what makes a schedule: failures, preemptions, switches.

use explorer::debug::{Cause, Filters, SetBreakpoint, Stop, WantedBreakpoint};
use serde_json::{Value, json};

use crate::handlers::sources::file_of;
use crate::protocol::{
    Request, SetBreakpointsArguments, SetExceptionBreakpointsArguments, Source, SourceBreakpoint,
};
use crate::request::{Answer, Launched, Numbering, Refusal, arguments};

/// The exception filters: name, label, description, whether they are on at first.
const FILTERS: [(&str, &str, &str, bool); 3] = [
    ("bug", "Failures", "Stop at the failure that the schedule leads to.", true),
    ("preemption", "Preemptions", "Stop where a thread runs in place of one that could have gone on.", false),
    ("switch", "Switches", "Stop wherever another thread runs than before.", false),
];

/// The filters as a client is told of them.
pub(crate) fn filters() -> Value {
    let filter = |(filter, label, description, default): &(&str, &str, &str, bool)| json!({"filter": filter, "label": label, "description": description, "default": default});
    FILTERS.iter().map(filter).collect()
}

pub(crate) fn set_breakpoints(launched: Launched<'_>, numbering: Numbering, request: &Request) -> Answer {
    let SetBreakpointsArguments { source, breakpoints } = arguments(request)?;
    let file = file_of(launched, &source)?;
    let first = u32::from(!numbering.lines_from_one);
    let text = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let wanted = breakpoints.into_iter().map(|breakpoint: SourceBreakpoint| WantedBreakpoint {
        line: breakpoint.line.saturating_add(first),
        condition: text(breakpoint.condition),
        hit_condition: text(breakpoint.hit_condition),
        log_message: text(breakpoint.log_message),
    });
    let set = launched.session()?.set_breakpoints(file, wanted.collect())?;
    let told: Vec<Value> = set.iter().map(|set| told(set, &source, first)).collect();
    Ok(json!({"breakpoints": told}))
}

/// Sets the filters; whether a failure is shown as an exception from now on.
pub(crate) fn set_filters(launched: Launched<'_>, request: &Request) -> Result<bool, Refusal> {
    let SetExceptionBreakpointsArguments { filters } = arguments(request)?;
    let has = |name: &str| filters.iter().any(|filter| filter == name);
    launched.session()?.set_filters(Filters { preemption: has("preemption"), switch: has("switch") })?;
    Ok(has("bug"))
}

pub(crate) fn exception_info(launched: Launched<'_>, stop: Option<&Stop>, stops_at_bug: bool) -> Answer {
    launched.session()?;
    let stop = stop.ok_or_else(|| Refusal("the session has not stopped yet".to_owned()))?;
    let id = match &stop.cause {
        Cause::Failure(kind) if stops_at_bug => serde_json::to_value(kind).unwrap_or_default(),
        Cause::Preemption => json!("preemption"),
        Cause::Switch => json!("switch"),
        _ => return Err(Refusal("the session does not stand at a failure or a switch".to_owned())),
    };
    let description = stop.text.as_ref().unwrap_or(&stop.description);
    Ok(json!({
        "exceptionId": id, "description": description, "breakMode": "always",
        "details": {"message": description, "typeName": id},
    }))
}

fn told(set: &SetBreakpoint, source: &Source, first: u32) -> Value {
    match &set.line {
        Ok(line) => json!({"id": set.number, "verified": true, "line": line - first, "source": source}),
        Err(why) => json!({"id": set.number, "verified": false, "message": why}),
    }
}
