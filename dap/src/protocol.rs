//! The messages of the debug adapter protocol, as far as they are used here.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request of the client.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    pub(crate) seq: i64,
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) arguments: Value,
}

/// The opening of a session.
#[derive(Debug, Deserialize)]
pub(crate) struct LaunchArguments {
    pub(crate) schedule: PathBuf,
    pub(crate) program: Option<PathBuf>,
    pub(crate) folder: Option<PathBuf>,
    /// The user trusts what lies in that folder.
    #[serde(default)]
    pub(crate) trusted: bool,
}

/// A move of one thread.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct MoveArguments {
    pub(crate) thread_id: u32,
    pub(crate) granularity: Granularity,
}

/// Granularity of a step.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Granularity {
    #[default]
    Statement,
    Line,
    /// One key point of any thread.
    Instruction,
}

/// A position by number.
#[derive(Debug, Deserialize)]
pub(crate) struct StepArguments {
    pub(crate) step: usize,
}

/// A part of a thread's stack.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StackTraceArguments {
    pub(crate) thread_id: u32,
    #[serde(default)]
    pub(crate) start_frame: usize,
    #[serde(default)]
    pub(crate) levels: usize,
}

/// The breakpoints of a file.
#[derive(Debug, Deserialize)]
pub(crate) struct SetBreakpointsArguments {
    pub(crate) source: Source,
    #[serde(default)]
    pub(crate) breakpoints: Vec<SourceBreakpoint>,
}

/// A breakpoint that is wanted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceBreakpoint {
    pub(crate) line: u32,
    pub(crate) condition: Option<String>,
    pub(crate) hit_condition: Option<String>,
    pub(crate) log_message: Option<String>,
}

/// The exception filters that are on.
#[derive(Debug, Deserialize)]
pub(crate) struct SetExceptionBreakpointsArguments {
    #[serde(default)]
    pub(crate) filters: Vec<String>,
}

/// A source whose text is wanted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceArguments {
    #[serde(default)]
    pub(crate) source: Option<Source>,
    #[serde(default)]
    pub(crate) source_reference: i64,
}

/// A frame.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScopesArguments {
    pub(crate) frame_id: i64,
}

/// A request for the parts of something.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VariablesArguments {
    pub(crate) variables_reference: i64,
    pub(crate) filter: Option<VariablesFilter>,
    #[serde(default)]
    pub(crate) start: u64,
    #[serde(default)]
    pub(crate) count: u64,
}

/// Kinds of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VariablesFilter {
    Indexed,
    Named,
}

/// An expression.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EvaluateArguments {
    pub(crate) expression: String,
    pub(crate) frame_id: Option<i64>,
}

/// A variable, or a part of one.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evaluate_name: Option<String>,
    pub(crate) variables_reference: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) named_variables: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) indexed_variables: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_reference: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A call that has not returned.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StackFrame {
    pub(crate) id: i64,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<Source>,
    pub(crate) line: u32,
    pub(crate) column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instruction_pointer_reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) presentation_hint: Option<&'static str>,
}

/// A source file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Source {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source_reference: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) presentation_hint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
}
