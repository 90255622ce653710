//! A thread that has to look whether it may go on, and does not.

use std::env;
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use checker::limit::{Limit, StopRequest};
use ptrace_backend::LaunchError;
use ptrace_backend::attention::{self, Attention};
use ptrace_backend::debuginfo::Image;

/// The number of `SIGABRT`.
const ABORT: i32 = 6;

/// Set for the process that is to be ended.
const DEAF: &str = "INTERLEAVER_TEST_DEAF";

#[test]
fn a_loop_that_does_not_look_ends_the_process() {
    if env::var_os(DEAF).is_some() {
        let _attention = Attention::pay();
        for round in 0_u64.. {
            black_box(round);
        }
    }
    let mut again = Command::new(env::current_exe().unwrap());
    again.args(["--exact", "a_loop_that_does_not_look_ends_the_process", "--nocapture"]).env(DEAF, "1");
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORT), "{said}");
    assert!(said.contains("without looking whether it may go on"), "{said}");
}

#[test]
fn work_ends_where_its_limit_is_over_and_nothing_is_kept_of_it() {
    let image = Image::open(&env::current_exe().unwrap()).unwrap();
    // The functions of the test itself are some thousands.
    let looks = AtomicU32::new(0);
    let look = move || match looks.fetch_add(1, Ordering::Relaxed) {
        0..20 => StopRequest::Continue,
        _ => StopRequest::Cancelled,
    };
    let ended = attention::within(&Limit::new(look), || image.symbol("main")).unwrap_err();
    assert!(matches!(ended.into(), LaunchError::Cancelled));
    // Without a limit it goes on to its end, from its beginning.
    assert!(image.symbol("main").is_some());
    let over = Limit::new(|| StopRequest::BudgetSpent);
    let ended = attention::within(&Limit::default(), || attention::within(&over, || ()).unwrap_err());
    assert!(matches!(ended.unwrap().into(), LaunchError::OutOfTime));
}

#[test]
fn a_panic_is_no_end_of_the_time() {
    let work = || attention::within(&Limit::default(), || panic!("damaged"));
    let why = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
    assert_eq!(why.downcast_ref::<&str>(), Some(&"damaged"));
}
