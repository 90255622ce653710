//! Scopes, variables and expressions of a frame.

use std::io::Write;

use explorer::debug::{FrameId, Handle, Scope, ScopeKind, Variable as Value};
use serde_json::json;

use crate::adapter::{Adapter, Answer, Refusal, arguments};
use crate::protocol::{
    EvaluateArguments, Request, ScopesArguments, Variable, VariablesArguments, VariablesFilter,
};

/// So many elements are given where a client does not say how many it wants.
const MOST_ELEMENTS: u64 = 1000;

/// What the client can look into, by number, from 1. Editors look at what they have just been shown while the session
/// moves on already, and take a refusal for an empty answer: numbers hold over one move, and stand for what is there now.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    /// How many came before the old ones.
    gone: usize,
    /// How many of the others are from before the last move.
    old: usize,
    known: Vec<(u32, Handle)>,
}

impl Handles {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The session has moved.
    pub(crate) fn age(&mut self) {
        self.known.drain(..self.old);
        self.gone += self.old;
        self.old = self.known.len();
    }

    fn add(&mut self, thread: u32, handle: Handle) -> i64 {
        self.known.push((thread, handle));
        (self.gone + self.known.len()) as i64
    }

    fn get(&self, number: i64) -> Result<(u32, Handle), Refusal> {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(self.gone + 1));
        let known = place.and_then(|place| self.known.get(place));
        known.cloned().ok_or_else(|| Refusal("the session has moved on: ask again".to_owned()))
    }
}

impl<W: Write> Adapter<W> {
    pub(crate) fn scopes(&mut self, request: &Request) -> Answer {
        let ScopesArguments { frame_id } = arguments(request)?;
        let (thread, frame) = self.frame_of(frame_id)?;
        let Some(frame) = frame else { return Ok(json!({"scopes": []})) };
        let scopes: Vec<_> = self.session()?.scopes(thread, frame)?;
        let scopes: Vec<_> = scopes.into_iter().map(|scope| self.scope(thread, scope)).collect();
        Ok(json!({"scopes": scopes}))
    }

    fn scope(&mut self, thread: u32, scope: Scope) -> serde_json::Value {
        let (name, hint) = match scope.kind {
            ScopeKind::Arguments => ("Arguments", "arguments"),
            ScopeKind::Locals => ("Locals", "locals"),
            ScopeKind::Globals => ("Globals", "globals"),
        };
        let reference = self.handles.add(thread, scope.handle);
        json!({
            "name": name, "presentationHint": hint, "variablesReference": reference,
            "expensive": scope.kind == ScopeKind::Globals,
        })
    }

    pub(crate) fn variables(&mut self, request: &Request) -> Answer {
        let VariablesArguments { variables_reference, filter, start, count } = arguments(request)?;
        let (thread, handle) = self.handles.get(variables_reference)?;
        let session = self.session()?;
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
        let variables: Vec<Variable> = found.into_iter().map(|value| self.variable(thread, value)).collect();
        Ok(json!({"variables": variables}))
    }

    fn variable(&mut self, thread: u32, value: Value) -> Variable {
        let variables_reference =
            if value.is_expandable() { self.handles.add(thread, value.handle.clone()) } else { 0 };
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

    pub(crate) fn evaluate(&mut self, request: &Request) -> Answer {
        let EvaluateArguments { expression, frame_id } = arguments(request)?;
        let (thread, frame) = match frame_id {
            Some(frame) => self.frame_of(frame)?,
            None => self.innermost()?,
        };
        let frame = frame.ok_or_else(|| Refusal("there are no variables here".to_owned()))?;
        let value = self.session()?.evaluate(thread, frame, expression)?;
        let value = self.variable(thread, value);
        Ok(json!({
            "result": value.value, "type": value.kind, "variablesReference": value.variables_reference,
            "namedVariables": value.named_variables, "indexedVariables": value.indexed_variables,
            "memoryReference": value.memory_reference,
        }))
    }

    /// The innermost call of the user's own code in the thread that is shown.
    fn innermost(&mut self) -> Result<(u32, Option<FrameId>), Refusal> {
        let thread = self.session()?.standing()?.thread;
        let stack = self.session()?.stack(thread)?;
        let own = stack.iter().find(|line| line.is_own).or(stack.first());
        Ok((thread, own.and_then(|line| line.id)))
    }
}
