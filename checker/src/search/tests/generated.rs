//! How tests draw programs: the same ones in each run.

use proptest::test_runner::{Config, RngSeed};

/// This many programs, unless `PROPTEST_CASES` says how many. A test run is a function of the source alone;
/// `PROPTEST_RNG_SEED` draws others.
pub(crate) fn generated(cases: u32) -> Config {
    let config = Config::default();
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        seed => seed,
    };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { config.cases } else { cases };
    Config { cases, rng_seed, failure_persistence: None, max_global_rejects: 10_000_000, ..config }
}
