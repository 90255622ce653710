//! Check of this machine: whether programs can be explored on it, and what to do if not.

use std::fs;
use std::io;
use std::path::Path;

use ptrace_backend::doctor::Capability;
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
    let host = Host::look();
    Capability::ALL.map(|capability| of(capability, capability.probe(), &host)).into()
}

/// The outcome of a trial, in words.
fn of(capability: Capability, outcome: io::Result<()>, host: &Host) -> Check {
    let (name, works, fails) = words(capability);
    let error = outcome.err();
    Check {
        name: name.to_owned(),
        works: error.is_none(),
        is_needed: capability.is_needed(),
        sentence: error.as_ref().map_or_else(|| works.to_owned(), |error| format!("{fails}: {error}")),
        fix: error.map(|_| host.remedy(capability)),
    }
}

/// The name of a trial, and the consequence if it works, and if it does not.
const fn words(capability: Capability) -> (&'static str, &'static str, &'static str) {
    match capability {
        Capability::Trace => (
            "trace",
            "programs can be stopped and looked into (ptrace)",
            "programs cannot be stopped and looked into (ptrace is refused), so that nothing can be explored",
        ),
        Capability::Filter => (
            "filter",
            "system calls can be made to stop (seccomp filter)",
            "system calls cannot be made to stop (a seccomp filter is refused), so that nothing can be explored",
        ),
        Capability::Personality => (
            "personality",
            "addresses can be kept the same at each start (personality)",
            "addresses cannot be kept the same at each start (personality is refused): programs are explored all the \
             same, but what depends on addresses may differ in a later replay",
        ),
        Capability::Affinity => (
            "affinity",
            "a process can be bound to one CPU (sched_setaffinity)",
            "no process can be bound to one CPU (sched_setaffinity is refused): exploring takes up to three times as long",
        ),
    }
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

/// The machine that the tool runs on, or its container.
struct Host {
    container: Option<Container>,
    /// `kernel.yama.ptrace_scope`: 0 and 1 permit tracing children, 2 asks for a privilege, 3 permits nothing.
    ptrace_scope: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    /// Described by a `devcontainer.json`.
    Development,
    Other,
}

impl Host {
    fn look() -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some();
        let development = ["REMOTE_CONTAINERS", "DEVCONTAINER", "CODESPACES"].iter().any(|name| is_set(name));
        let marks = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"];
        let other = is_set("container") || marks.iter().any(|mark| Path::new(mark).exists());
        let container = match (development, other) {
            (true, _) => Some(Container::Development),
            (false, true) => Some(Container::Other),
            (false, false) => None,
        };
        let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
        Self { container, ptrace_scope: scope.ok().and_then(|scope| scope.trim().parse().ok()) }
    }

    /// The remedy where something is refused.
    fn remedy(&self, capability: Capability) -> String {
        match capability {
            Capability::Trace => self.permit_trace(),
            Capability::Filter => self.permit_filter(),
            Capability::Personality => self.permit_personality(),
            Capability::Affinity => self.permit_affinity(),
        }
    }

    fn permit_trace(&self) -> String {
        match self.ptrace_scope {
            Some(2) => {
                return "run `sudo sysctl kernel.yama.ptrace_scope=1` (2 permits it to administrators only)"
                    .to_owned();
            }
            Some(scope @ 3..) => {
                return format!(
                    "set `kernel.yama.ptrace_scope = 1` in /etc/sysctl.d and restart the machine ({scope} cannot be \
                     changed while it runs)"
                );
            }
            _ => {}
        }
        self.with_option("--cap-add=SYS_PTRACE", "permit ptrace in the security policy of this machine")
    }

    fn permit_filter(&self) -> String {
        let elsewhere = "use a kernel with CONFIG_SECCOMP_FILTER, and permit prctl(PR_SET_SECCOMP) in the security policy \
                         of this machine";
        self.with_option("--security-opt=seccomp=unconfined", elsewhere)
    }

    fn permit_personality(&self) -> String {
        let elsewhere = "permit personality(ADDR_NO_RANDOMIZE) in the security policy of this machine";
        self.with_option("--security-opt=seccomp=unconfined", elsewhere)
    }

    fn permit_affinity(&self) -> String {
        let elsewhere = "permit sched_setaffinity in the security policy of this machine";
        self.with_option("--security-opt=seccomp=unconfined", elsewhere)
    }

    /// The remedy where an option of the container would permit it.
    fn with_option(&self, option: &str, elsewhere: &str) -> String {
        match self.container {
            Some(Container::Development) => {
                format!("add \"runArgs\": [\"{option}\"] to devcontainer.json and rebuild the container")
            }
            Some(Container::Other) => format!("start the container with `{option}`"),
            None => format!("{elsewhere} (in a container: start it with `{option}`)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_depends_on_where() {
        let host = |container, ptrace_scope| Host { container, ptrace_scope };
        for (host, expected) in [
            (host(None, Some(2)), "sudo sysctl kernel.yama.ptrace_scope=1"),
            (host(None, Some(3)), "restart the machine"),
            (host(Some(Container::Other), Some(1)), "start the container with `--cap-add=SYS_PTRACE`"),
            (host(Some(Container::Development), None), "\"runArgs\": [\"--cap-add=SYS_PTRACE\"]"),
            (host(None, Some(1)), "security policy"),
        ] {
            let fix = host.permit_trace();
            assert!(fix.contains(expected), "{fix}");
        }
    }
}
