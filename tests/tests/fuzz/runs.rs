//! The generation and the runs of inputs: under a limit of memory, and under a watchdog for each of them.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, setrlimit};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Number of inputs, unless `INTERLEAVER_FUZZ` says another one.
const INPUTS: u32 = 2_000;

/// All memory that may be in use, in bytes.
const MEMORY: u64 = 4 << 30;

/// The longest time that one input may take.
const WATCHDOG: Duration = Duration::from_secs(30);

/// Runs so many per mille of all inputs.
pub(crate) fn run<S: Strategy>(name: &str, share: u32, inputs: &S, test: impl Fn(S::Value)) {
    static LIMITED: Once = Once::new();
    LIMITED.call_once(|| setrlimit(Resource::RLIMIT_AS, MEMORY, MEMORY).unwrap());
    let all = std::env::var("INTERLEAVER_FUZZ").map_or(INPUTS, |count| count.parse().unwrap());
    let cases = (u64::from(all) * u64::from(share)).div_ceil(1000);
    let config = Config {
        cases: u32::try_from(cases).unwrap(),
        failure_persistence: None,
        max_shrink_iters: 256,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let watch = Watch::over(name);
    let ran = TestRunner::new_with_rng(config, rng).run(inputs, |input| {
        watch.next();
        test(input);
        Ok(())
    });
    watch.ended.store(u64::MAX, Ordering::Relaxed);
    if let Err(failure) = ran {
        panic!("{name}: {failure}");
    }
}

/// Ends the process when one input takes too long: nothing else could.
struct Watch {
    /// The number of the input that runs.
    ended: Arc<AtomicU64>,
}

impl Watch {
    fn over(name: &str) -> Self {
        let (ended, name) = (Arc::new(AtomicU64::new(0)), name.to_owned());
        let seen = Arc::clone(&ended);
        thread::spawn(move || {
            let (mut last, mut since) = (0, Instant::now());
            loop {
                thread::park_timeout(Duration::from_secs(1));
                match seen.load(Ordering::Relaxed) {
                    u64::MAX => return,
                    now if now != last => (last, since) = (now, Instant::now()),
                    _ if since.elapsed() > WATCHDOG => {
                        let _ = writeln!(io::stderr(), "{name}: input {last} takes longer than {WATCHDOG:?}");
                        std::process::abort();
                    }
                    _ => {}
                }
            }
        });
        Self { ended }
    }

    fn next(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}
