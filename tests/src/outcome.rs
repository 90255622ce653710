//! The outcome of one run of the tool.

use serde_json::Value;

/// A run of the tool that ended by itself.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its exit code.
    pub code: i32,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// The report, if it was asked for as JSON and there is one.
    pub report: Value,
}

impl Outcome {
    pub(crate) fn new(code: i32, stdout: String, stderr: String) -> Self {
        let report = serde_json::from_str(&stdout).unwrap_or(Value::Null);
        Self { code, stdout, stderr, report }
    }

    /// The first finding of the report.
    #[must_use]
    pub fn finding(&self) -> &Value {
        &self.report["findings"][0]
    }

    /// Whether `phrase` is anywhere in what it wrote, whatever the case of its letters.
    #[must_use]
    pub fn says(&self, phrase: &str) -> bool {
        let phrase = phrase.to_lowercase();
        [&self.stdout, &self.stderr].into_iter().any(|text| text.to_lowercase().contains(&phrase))
    }

    /// Everything that it wrote, for the message of a test that fails.
    #[must_use]
    pub fn transcript(&self) -> String {
        format!("exit code {}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}
