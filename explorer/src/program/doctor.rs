//! Check of this machine: whether programs can be explored on it, and what to do if not.

use serde::{Deserialize, Serialize};

use crate::report::verdict::EXIT_FAILED;

/// Something that exploring takes, and whether it is permitted here.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Check {
    /// Name of the thing that was tried: `trace`, `filter`, `personality`, `affinity`.
    pub name: String,
    /// Whether it works.
    pub works: bool,
    /// Whether nothing can be explored without it.
    pub is_needed: bool,
    /// The meaning of that, in one sentence.
    pub sentence: String,
    /// The remedy; `None` where it works.
    pub fix: Option<String>,
}

impl Check {
    /// The fault and its remedy, as one line; `None` where it works.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let fix = self.fix.as_ref()?;
        Some(format!("{}; to do: {fix}", self.sentence))
    }
}

/// Tries everything once; nothing stays behind.
#[must_use]
pub fn check() -> Vec<Check> {
    let checks = ptrace_backend::doctor::check().into_iter();
    checks
        .map(|check| Check {
            name: check.name.to_owned(),
            works: check.works,
            is_needed: check.is_needed,
            sentence: check.sentence,
            fix: check.fix,
        })
        .collect()
}

/// The exit code of a process that was to find out: 0 if programs can be explored.
#[must_use]
pub fn exit_code(checks: &[Check]) -> u8 {
    if checks.iter().all(|check| check.works || !check.is_needed) { 0 } else { EXIT_FAILED }
}

/// The checks for a person, a sentence and, where something has to be done, the fix below it.
#[must_use]
pub fn render(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let mark = match (check.works, check.is_needed) {
            (true, _) => "ok     ",
            (false, true) => "missing",
            (false, false) => "limited",
        };
        text += &format!("{mark}  {}: {}\n", check.name, check.sentence);
        if let Some(fix) = &check.fix {
            text += &format!("         to do: {fix}\n");
        }
    }
    text
}
