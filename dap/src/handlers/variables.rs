//! Scopes, variables and expressions of a frame.

use explorer::debug::{FrameId, Scope, ScopeKind, Variable as Value};
use serde_json::json;

use crate::handles::{Frames, Handles};
use crate::protocol::{
    EvaluateArguments, Request, ScopesArguments, Variable, VariablesArguments, VariablesFilter,
};
use crate::request::{Answer, Launched, Refusal, arguments};

/// So many elements are given where a client does not say how many it wants.
const MOST_ELEMENTS: u64 = 1000;

pub(crate) fn scopes(
    launched: Launched<'_>,
    (frames, handles): (&Frames, &mut Handles),
    request: &Request,
) -> Answer {
    let ScopesArguments { frame_id } = arguments(request)?;
    let (thread, frame) = frames.get(frame_id)?;
    let Some(frame) = frame else { return Ok(json!({"scopes": []})) };
    let scopes: Vec<_> = launched.session()?.scopes(thread, frame)?;
    let scopes: Vec<_> = scopes.into_iter().map(|found| scope(handles, thread, found)).collect();
    Ok(json!({"scopes": scopes}))
}

fn scope(handles: &mut Handles, thread: u32, scope: Scope) -> serde_json::Value {
    let (name, hint) = match scope.kind {
        ScopeKind::Arguments => ("Arguments", "arguments"),
        ScopeKind::Locals => ("Locals", "locals"),
        ScopeKind::Globals => ("Globals", "globals"),
    };
    let reference = handles.add(thread, scope.handle);
    json!({
        "name": name, "presentationHint": hint, "variablesReference": reference,
        "expensive": scope.kind == ScopeKind::Globals,
    })
}

pub(crate) fn variables(launched: Launched<'_>, handles: &mut Handles, request: &Request) -> Answer {
    let VariablesArguments { variables_reference, filter, start, count } = arguments(request)?;
    let (thread, handle) = handles.get(variables_reference)?;
    let session = launched.session()?;
    let mut found = Vec::new();
    if filter != Some(VariablesFilter::Indexed) {
        let skipped = if filter.is_some() { start } else { 0 };
        let wanted = if count == 0 || filter.is_none() { u64::MAX } else { count };
        let named = session.named(thread, handle.clone())?.into_iter();
        let number = |number| usize::try_from(number).unwrap_or(usize::MAX);
        found.extend(named.skip(number(skipped)).take(number(wanted)));
    }
    if filter != Some(VariablesFilter::Named) {
        let count = if count == 0 { MOST_ELEMENTS } else { count };
        found.extend(session.indexed(thread, handle, start..start.saturating_add(count))?);
    }
    let variables: Vec<Variable> = found.into_iter().map(|value| variable(handles, thread, value)).collect();
    Ok(json!({"variables": variables}))
}

fn variable(handles: &mut Handles, thread: u32, value: Value) -> Variable {
    let variables_reference =
        if value.is_expandable() { handles.add(thread, value.handle.clone()) } else { 0 };
    Variable {
        name: value.name,
        value: value.value,
        kind: value.type_name,
        evaluate_name: value.expression,
        variables_reference,
        named_variables: value.named,
        indexed_variables: value.indexed,
        memory_reference: value.address.map(|address| format!("{address:#x}")),
    }
}

pub(crate) fn evaluate(
    launched: Launched<'_>,
    (frames, handles): (&Frames, &mut Handles),
    request: &Request,
) -> Answer {
    let EvaluateArguments { expression, frame_id } = arguments(request)?;
    let (thread, frame) = match frame_id {
        Some(frame) => frames.get(frame)?,
        None => innermost(launched)?,
    };
    let frame = frame.ok_or_else(|| Refusal("there are no variables here".to_owned()))?;
    let value = launched.session()?.evaluate(thread, frame, expression)?;
    let value = variable(handles, thread, value);
    Ok(json!({
        "result": value.value, "type": value.kind, "variablesReference": value.variables_reference,
        "namedVariables": value.named_variables, "indexedVariables": value.indexed_variables,
        "memoryReference": value.memory_reference,
    }))
}

/// The innermost call of the user's own code in the thread that is shown.
fn innermost(launched: Launched<'_>) -> Result<(u32, Option<FrameId>), Refusal> {
    let thread = launched.session()?.standing()?.thread;
    let stack = launched.session()?.stack(thread)?;
    let own = stack.iter().find(|line| line.is_own).or(stack.first());
    Ok((thread, own.and_then(|line| line.id)))
}
