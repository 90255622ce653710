//! Does this machine permit what exploring takes? Tries each thing once.

use std::io;

use crate::os::capability_probe;

/// Something that exploring takes of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capability {
    /// Programs can be stopped and looked into (`ptrace`).
    Trace,
    /// System calls can be made to stop (`seccomp`).
    Filter,
    /// Addresses can be kept the same at each start (`personality`).
    Personality,
    /// A process can be bound to one CPU (`sched_setaffinity`).
    Affinity,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Trace, Self::Filter, Self::Personality, Self::Affinity];

    /// Whether nothing can be explored without it.
    #[must_use]
    pub const fn is_needed(self) -> bool {
        matches!(self, Self::Trace | Self::Filter)
    }

    /// Tries it. The trial takes a child that has ended when this returns.
    ///
    /// # Errors
    /// Where it is refused, the reason of the kernel.
    pub fn probe(self) -> io::Result<()> {
        match self {
            Self::Trace => capability_probe::trace(),
            Self::Filter => capability_probe::filter(),
            Self::Personality => capability_probe::personality(),
            Self::Affinity => capability_probe::affinity(),
        }
    }
}
