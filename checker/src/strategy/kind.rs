//! The searches by name.

use serde::{Deserialize, Serialize};

/// The searches by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyKind {
    /// Iterative context bounding.
    Icb,
    /// Iterative delay bounding.
    Idb,
    /// Depth-first search.
    Dfs,
    /// Dynamic partial-order reduction.
    Dpor,
    /// The same within a bound on preemptions.
    BoundedDpor,
    /// A random walk.
    Random,
    /// Probabilistic concurrency testing.
    Pct,
    /// Partial order sampling, with reads that do not race.
    Pos,
    /// Partial order sampling without fresh priorities.
    BasicPos,
    /// Random batches of operations that commute.
    Rapos,
    /// Selectively uniform random walk.
    Surw,
    /// Variable and thread bounding.
    Vtb,
    /// PCT with variable bounding.
    Pctvb,
    /// Periodical scheduling.
    Period,
    /// Guided by reads-from pairs.
    Guided,
    /// A portfolio.
    Auto,
}

impl StrategyKind {
    /// Every search, in the order in which they are documented.
    pub const ALL: [Self; 16] = [
        Self::Icb,
        Self::Idb,
        Self::Dfs,
        Self::Dpor,
        Self::BoundedDpor,
        Self::Random,
        Self::Pct,
        Self::Pos,
        Self::BasicPos,
        Self::Rapos,
        Self::Surw,
        Self::Vtb,
        Self::Pctvb,
        Self::Period,
        Self::Guided,
        Self::Auto,
    ];

    /// Their names.
    pub const NAMES: [&str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut nth = 0;
        while nth < names.len() {
            names[nth] = Self::ALL[nth].name();
            nth += 1;
        }
        names
    };

    /// The search where the user names none; the ones that auto has in turns are not all for switching at synchronisation only.
    #[must_use]
    pub const fn unless_named(only_synchronisation: bool) -> Self {
        if only_synchronisation { Self::Icb } else { Self::Auto }
    }

    /// Whether it takes the choices that it is given: then these can be left out where threads are not to be switched.
    #[must_use]
    pub const fn takes_any_choices(self) -> bool {
        matches!(self, Self::Icb | Self::Idb | Self::Dfs | Self::Random | Self::Pct)
    }

    /// The name, as it is written on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Icb => "icb",
            Self::Idb => "idb",
            Self::Dfs => "dfs",
            Self::Dpor => "dpor",
            Self::BoundedDpor => "bounded-dpor",
            Self::Random => "random",
            Self::Pct => "pct",
            Self::Pos => "pos",
            Self::BasicPos => "basic-pos",
            Self::Rapos => "rapos",
            Self::Surw => "surw",
            Self::Vtb => "vtb",
            Self::Pctvb => "pctvb",
            Self::Period => "period",
            Self::Guided => "guided",
            Self::Auto => "auto",
        }
    }

    /// The search of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The published bound of a random search, if there is one: what each of its schedules is known to find. `None` for a
    /// search that says itself what it has covered.
    #[must_use]
    pub fn promise(self) -> Option<&'static str> {
        match self {
            Self::Icb | Self::Idb | Self::Dfs | Self::Dpor | Self::BoundedDpor | Self::Auto => None,
            Self::Pct => Some(
                "each schedule shows a failure of depth d among n threads and k key points with probability 1/(n k^(d-1)) \
                 or more",
            ),
            Self::Surw => Some(
                "the interleavings of one variable's events are equally likely where no thread blocks another",
            ),
            Self::Pctvb => Some(
                "each schedule shows a failure of depth d at v of V variables, with K accesses in all, among n threads with \
                 probability 1/(n C(V, v) K^(d-1)) or more",
            ),
            Self::Vtb => Some(
                "each failure within the preemptions, variables and threads that it has been through is missed with \
                 probability 0.01 or less",
            ),
            Self::Random | Self::Pos | Self::BasicPos | Self::Rapos | Self::Period | Self::Guided => {
                Some("no published bound")
            }
        }
    }

    /// Whether several workers are faster than one: what an execution does can be told before those before it have ended.
    #[must_use]
    pub fn runs_ahead(self) -> bool {
        match self {
            Self::Icb | Self::Idb | Self::Dfs | Self::Dpor | Self::BoundedDpor | Self::Auto => true,
            Self::Random | Self::Pct | Self::Pos | Self::BasicPos | Self::Rapos => true,
            Self::Surw | Self::Vtb | Self::Pctvb | Self::Period => false,
            Self::Guided => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_one_name_everywhere() {
        for kind in StrategyKind::ALL {
            assert_eq!(StrategyKind::named(kind.name()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert_eq!(StrategyKind::named("fast"), None);
    }
}
