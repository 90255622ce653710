//! The planner of each search, made from the settings of the user.

use super::options::Options;
use crate::cache::SubsumptionRule;
use crate::strategy::{
    Auto, Bounds, Delays, Frontier, Guided, Pct, PctVb, Periods, Pos, Preemptions, Racing, Random, Rapos,
    ReverseSearch, Sampler, Strategy, StrategyKind, Surw, Unbounded, Vtb,
};

impl StrategyKind {
    /// A planner, with the rule of the cache that it can be used with.
    #[must_use]
    pub fn plan(self, options: &Options) -> (Box<dyn Strategy>, Option<SubsumptionRule>) {
        let Options {
            max_preemptions, max_delays, seed, depth, max_variables, max_threads, max_periods, ..
        } = *options;
        match self {
            Self::Icb => (
                Box::new(Frontier::new(Preemptions { max: max_preemptions })),
                Some(SubsumptionRule::Preemptions),
            ),
            Self::Idb => {
                (Box::new(Frontier::new(Delays { max: max_delays })), Some(SubsumptionRule::SamePosition))
            }
            Self::Dfs => (Box::new(Frontier::new(Unbounded)), Some(SubsumptionRule::Preemptions)),
            Self::Dpor => (Box::new(ReverseSearch::new().until(&options.limit)), None),
            Self::BoundedDpor => {
                (Box::new(ReverseSearch::within(max_preemptions).until(&options.limit)), None)
            }
            Self::Random => (Box::new(Sampler::new(Random, seed)), None),
            Self::Pct => (Box::new(Sampler::new(Pct::new(depth), seed)), None),
            Self::Pos => (Box::new(Sampler::new(Pos::new(Racing::Conflicts), seed)), None),
            Self::BasicPos => (Box::new(Sampler::new(Pos::new(Racing::Nothing), seed)), None),
            Self::Rapos => (Box::new(Sampler::new(Rapos, seed)), None),
            Self::Surw => (Box::new(Sampler::new(Surw::default(), seed)), None),
            Self::Vtb => {
                let bounds =
                    Bounds { preemptions: max_preemptions, variables: max_variables, threads: max_threads };
                (Box::new(Vtb::new(bounds, seed)), None)
            }
            Self::Pctvb => (Box::new(Sampler::new(PctVb::new(depth, max_variables), seed)), None),
            Self::Period => (Box::new(Periods::new(max_periods)), None),
            Self::Guided => (Box::new(Guided::new(seed)), None),
            Self::Auto => {
                let auto = Auto::new(max_preemptions, max_periods, seed, &options.limit);
                (Box::new(auto), Some(SubsumptionRule::Preemptions))
            }
        }
    }
}
