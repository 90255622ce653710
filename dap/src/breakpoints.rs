//! Breakpoints, and the filters that stop at what makes a schedule: failures, preemptions, switches.

use std::io::Write;

use explorer::debug::{Cause, Filters, SetBreakpoint, WantedBreakpoint};
use serde_json::{Value, json};

use crate::adapter::{Adapter, Answer, Refusal, arguments};
use crate::protocol::{
    Request, SetBreakpointsArguments, SetExceptionBreakpointsArguments, Source, SourceBreakpoint,
};

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

impl<W: Write> Adapter<W> {
    pub(crate) fn set_breakpoints(&mut self, request: &Request) -> Answer {
        let SetBreakpointsArguments { source, breakpoints } = arguments(request)?;
        let file = source.path.clone().ok_or_else(|| Refusal("a breakpoint needs a file".to_owned()))?;
        let first = u32::from(!self.lines_from_one);
        let wanted = breakpoints.iter().map(|SourceBreakpoint { line, condition }| WantedBreakpoint {
            line: line.saturating_add(first),
            condition: condition.clone().filter(|condition| !condition.trim().is_empty()),
        });
        let set = self.session()?.set_breakpoints(file, wanted.collect())?;
        let told: Vec<Value> = set.iter().map(|set| told(set, &source, first)).collect();
        Ok(json!({"breakpoints": told}))
    }

    pub(crate) fn set_filters(&mut self, request: &Request) -> Answer {
        let SetExceptionBreakpointsArguments { filters } = arguments(request)?;
        let has = |name: &str| filters.iter().any(|filter| filter == name);
        self.session()?.set_filters(Filters { preemption: has("preemption"), switch: has("switch") })?;
        Ok(Value::Null)
    }

    pub(crate) fn exception_info(&mut self) -> Answer {
        self.session()?;
        let stop = self.stop.as_ref().ok_or_else(|| Refusal("the session has not stopped yet".to_owned()))?;
        let id = match &stop.cause {
            Cause::Failure(kind) => serde_json::to_value(kind).unwrap_or_default(),
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
}

fn told(set: &SetBreakpoint, source: &Source, first: u32) -> Value {
    match set.line {
        Some(line) => json!({"id": set.number, "verified": true, "line": line - first, "source": source}),
        None => {
            json!({"id": set.number, "verified": false, "message": "no code of the program comes from here on"})
        }
    }
}
