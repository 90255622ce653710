//! Does this machine permit what exploring takes? Tries each thing once, and says what to do about what it refuses.

use std::fs;
use std::io;
use std::path::Path;

use crate::os::capability_probe;

/// Something that exploring takes, and whether it is permitted here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Name of the trial: `trace`, `filter`, `personality`, `affinity`.
    pub name: &'static str,
    /// Whether it works.
    pub works: bool,
    /// Whether nothing can be explored without it.
    pub is_needed: bool,
    /// The consequence, in one sentence.
    pub sentence: String,
    /// The remedy; `None` where it works.
    pub fix: Option<String>,
}

/// Tries everything. Each takes a child that has ended when this returns.
#[must_use]
pub fn check() -> Vec<Check> {
    let host = Host::look();
    CAPABILITY_PROBES.iter().map(|probe| probe.run(&host)).collect()
}

struct CapabilityProbe {
    name: &'static str,
    is_needed: bool,
    run: fn() -> io::Result<()>,
    /// The consequence if it works, and if it does not.
    works: &'static str,
    fails: &'static str,
    fix: fn(&Host) -> String,
}

const CAPABILITY_PROBES: [CapabilityProbe; 4] = [
    CapabilityProbe {
        name: "trace",
        is_needed: true,
        run: capability_probe::trace,
        works: "programs can be stopped and looked into (ptrace)",
        fails: "programs cannot be stopped and looked into (ptrace is refused), so that nothing can be explored",
        fix: Host::permit_trace,
    },
    CapabilityProbe {
        name: "filter",
        is_needed: true,
        run: capability_probe::filter,
        works: "system calls can be made to stop (seccomp filter)",
        fails: "system calls cannot be made to stop (a seccomp filter is refused), so that nothing can be explored",
        fix: Host::permit_filter,
    },
    CapabilityProbe {
        name: "personality",
        is_needed: false,
        run: capability_probe::personality,
        works: "addresses can be kept the same at each start (personality)",
        fails: "addresses cannot be kept the same at each start (personality is refused): programs are explored all the \
                same, but what depends on addresses may differ in a later replay",
        fix: Host::permit_personality,
    },
    CapabilityProbe {
        name: "affinity",
        is_needed: false,
        run: capability_probe::affinity,
        works: "a process can be bound to one CPU (sched_setaffinity)",
        fails: "no process can be bound to one CPU (sched_setaffinity is refused): exploring takes up to three times as long",
        fix: Host::permit_affinity,
    },
];

impl CapabilityProbe {
    fn run(&self, host: &Host) -> Check {
        let error = (self.run)().err();
        let sentence = match &error {
            None => self.works.to_owned(),
            Some(error) => format!("{}: {error}", self.fails),
        };
        Check {
            name: self.name,
            works: error.is_none(),
            is_needed: self.is_needed,
            sentence,
            fix: error.map(|_| (self.fix)(host)),
        }
    }
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
