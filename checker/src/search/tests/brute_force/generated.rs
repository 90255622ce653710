//! The drawing of programs by tests: the same ones in each run.

use proptest::test_runner::{Config, RngSeed};

/// Half of so many programs; in the full run eight times as many, in the quick one a quarter, and otherwise as many as
/// `PROPTEST_CASES` says, if it does. A test run is a function of the source alone; `PROPTEST_RNG_SEED` draws others.
pub(crate) fn generated(cases: u32) -> Config {
    let config = Config::default();
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        seed => seed,
    };
    let is_set = |name| std::env::var_os(name).is_some();
    let cases = match cases {
        _ if is_set("PROPTEST_CASES") => config.cases,
        some if is_set("INTERLEAVER_TEST_FULL") => 8 * some,
        some if is_set("INTERLEAVER_TEST_QUICK") => some.div_ceil(4),
        some => some.div_ceil(2),
    };
    Config { cases, rng_seed, failure_persistence: None, max_global_rejects: 10_000_000, ..config }
}
