//! The target's environment: that of the tool with the user's changes, and the part of it that a schedule file records.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::input::os_text::OsText;

/// Variables by name.
pub type Variables = Vec<(OsString, OsString)>;

/// Beginnings of the names of variables that change what the loader, libc and the Rust runtime do.
const MATTERS: [&str; 11] = [
    "LD_",
    "LANG",
    "LC_",
    "TZ",
    "RUST_",
    "MALLOC_",
    "GLIBC_TUNABLES",
    "OMP_",
    "GOMP_",
    "KMP_",
    "TSAN_OPTIONS",
];

/// `inherited`, with `changes` on top. A panic's backtrace costs more than a thousand executions, and the report has the
/// stack anyway: it is off unless `changes` turns it on.
#[must_use]
pub fn with_changes(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    changes: &Variables,
) -> Variables {
    let mut all: BTreeMap<OsString, OsString> = inherited.into_iter().collect();
    all.insert("RUST_BACKTRACE".into(), "0".into());
    all.extend(changes.iter().cloned());
    all.into_iter().collect()
}

/// Variables that say how OpenMP's threads wait.
const OPENMP_WAITS: [&str; 3] = ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"];

/// Lets OpenMP's threads sleep where they wait, unless the environment says how they do: each round of a loop in which they
/// spin costs as much as a scheduling point.
pub fn let_openmp_sleep(environment: &mut Variables) {
    if !environment.iter().any(|(name, _)| OPENMP_WAITS.iter().any(|known| name == known)) {
        environment.push((OPENMP_WAITS[0].into(), PASSIVE.into()));
    }
}

const PASSIVE: &str = "passive";

/// Whether what a schedule file records lets OpenMP's threads sleep where they wait.
#[must_use]
pub fn lets_openmp_sleep(recorded: &BTreeMap<String, OsText>) -> bool {
    recorded.get(OPENMP_WAITS[0]).is_some_and(|value| value.0 == PASSIVE)
}

/// The variables of `environment` that a schedule file records: those that change the behaviour of programs, and those that
/// the user set.
#[must_use]
pub fn that_matters(environment: &Variables, changes: &Variables) -> BTreeMap<String, OsText> {
    let set_by_user = |name: &OsStr| changes.iter().any(|(changed, _)| changed == name);
    environment
        .iter()
        .filter(|(name, _)| matters(name) || set_by_user(name))
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.into())))
        .collect()
}

/// The environment for a replay: `inherited`, but what matters is as it was recorded.
#[must_use]
pub fn restored(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    recorded: &BTreeMap<String, OsText>,
) -> Variables {
    let others = inherited.into_iter().filter(|(name, _)| !matters(name));
    let changes = recorded.iter().map(|(name, value)| (name.into(), value.0.clone())).collect();
    with_changes(others, &changes)
}

fn matters(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    MATTERS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn a_replay_sees_what_matters_as_it_was_and_the_rest_as_it_is() {
        let changes = variables(&[("MODE", "slow")]);
        let there = with_changes(variables(&[("HOME", "/there"), ("LANG", "C"), ("MODE", "fast")]), &changes);
        let recorded = that_matters(&there, &changes);
        let here = restored(variables(&[("HOME", "/here"), ("LC_ALL", "de"), ("MODE", "fast")]), &recorded);
        let expected = [("HOME", "/here"), ("LANG", "C"), ("MODE", "slow"), ("RUST_BACKTRACE", "0")];
        assert_eq!(here, variables(&expected));
    }
}
