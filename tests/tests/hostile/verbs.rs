//! The verbs of the command line over a hostile repository.

use crate::repository::{PLANTED, Surroundings};

#[test]
fn verbs_change_nothing_outside_of_the_store_and_run_nothing_unasked() {
    let top = Surroundings::hostile();
    let before = top.seen();
    for words in
        [&["list", "."][..], &["list", "sub"], &["list", "--format", "json", "."], &["list", ".interleaver"]]
    {
        let outcome = top.tool(words).run().unwrap();
        assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    }
    for schedule in top.schedules() {
        for verb in ["replay", "minimise"] {
            let outcome = top.tool([verb.as_ref(), schedule.as_os_str()]).run().unwrap();
            assert_eq!(outcome.code, 3, "{}", outcome.transcript());
        }
    }
    assert_eq!((top.marks(), top.seen() == before), (0, true));
    // This one is asked for; what would slip in with it is not.
    let outcome = top.explore(".interleaver/app").run().unwrap();
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    assert_eq!((top.marks(), top.seen() == before), (0, true));
}

#[test]
fn a_store_that_leads_elsewhere_is_refused() {
    // If there is no store, nothing is explored; if only something in it cannot be kept, the report says so.
    for (code, link) in [
        (3, ".interleaver"),
        (3, PLANTED),
        (1, &format!("{PLANTED}/.lock")),
        (1, &format!("{PLANTED}/schedules")),
        (1, &format!("{PLANTED}/findings")),
    ] {
        let top = Surroundings::new();
        top.link(&format!("repository/{link}"), &top.path("mine"));
        let before = top.seen();
        let outcome = top.explore(PLANTED).run().unwrap();
        assert_eq!(outcome.code, code, "{link}: {}", outcome.transcript());
        assert!(outcome.says("is a symbolic link"), "{link}: {}", outcome.transcript());
        assert_eq!(top.seen(), before, "{link}");
    }
}

#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    for name in ["interleaver.toml", ".cargo/config.toml", "Cargo.toml", "CTestTestfile.cmake", "app.c"] {
        for is_pipe in [true, false] {
            let top = Surroundings::new();
            let place = format!("repository/{name}");
            // The source is there already.
            let _ = std::fs::remove_file(top.path(&place));
            match is_pipe {
                true => top.pipe(&place),
                false => top.link(&place, "/dev/zero".as_ref()),
            }
            let listed = top.tool(["list", "."]).run().unwrap();
            assert_eq!(listed.code, 0, "{}", listed.transcript());
            let explored = top.explore(PLANTED).run().unwrap();
            assert_eq!(explored.code, 1, "{}", explored.transcript());
        }
    }
}

#[test]
fn a_store_of_pipes_is_not_waited_for() {
    let top = Surroundings::new();
    top.pipe(&format!("repository/{PLANTED}/.lock"));
    let outcome = top.explore(PLANTED).run().unwrap();
    assert!(outcome.says("`.lock` is not a regular file"), "{}", outcome.transcript());
    std::fs::remove_file(top.path(&format!("repository/{PLANTED}/.lock"))).unwrap();
    for name in ["findings/x.json", "target.json", "report.txt", "sources/x"] {
        top.pipe(&format!("repository/{PLANTED}/{name}"));
    }
    let outcome = top.explore(PLANTED).run().unwrap();
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
}
