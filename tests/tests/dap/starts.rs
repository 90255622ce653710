//! The start of a session: at the failure, in the user's own line of it.

use serde_json::{Value, json};
use tests::{Adapter, Build, Found, Optimisation, running, targets, workspace};

use crate::client::Client;

/// A session of a test of a binary of Rust's own harness.
pub(crate) fn rust_test(name: &str, level: Optimisation) -> Client {
    let source = "frameworks/rust_tests.rs";
    let program = Build::new(source, level).flag("--test").program().unwrap();
    let arguments = ["--exact", name, "--nocapture", "--test-threads=1"];
    Client::open(Found::with_arguments(program, &targets().join(source), &arguments))
}

#[test]
fn a_panic_is_where_it_begins_and_not_where_the_process_ends() {
    for level in Optimisation::ALL {
        let mut client = Client::of("rust/snapshot.rs", level);
        assert_eq!(client.stop["reason"], "exception", "{}", client.stop);
        let line = client.found.line("FAILS HERE");
        let thread = client.stop["threadId"].as_u64().unwrap();
        assert_eq!(client.own_frame(thread)["line"], line, "{level:?}");
        // It ends here: whatever the others do about it comes later.
        let position = client.position();
        assert_eq!((&position["step"], &position["event"]), (&position["steps"], &Value::Null));
        client.go("continue", thread);
        assert_eq!(client.description(), "the failure");
        let threads = client.adapter.succeed("threads", &Value::Null).to_string();
        assert!(threads.contains(" · failed\""), "{threads}");
    }
}

#[test]
fn back_from_a_panic_and_forward_again_is_the_panic() {
    let mut client = Client::of("rust/snapshot.rs", Optimisation::O0);
    let thread = client.stop["threadId"].as_u64().unwrap();
    let (failure, at) = (client.place(), client.position());
    client.go("stepBack", thread);
    client.go("stepBack", thread);
    assert_ne!(client.place(), failure);
    for _ in 0..10 {
        if client.stop["reason"] == "exception" {
            break;
        }
        client.go("next", thread);
    }
    assert_eq!((client.place(), client.position()), (failure.clone(), at.clone()));
    client.rewind();
    assert_eq!(client.position()["step"], 0);
    client.go("continue", 1);
    assert_eq!((client.place(), client.position()), (failure, at));
}

#[test]
fn a_failed_rust_test_starts_at_its_assertion() {
    for level in Optimisation::ALL {
        let mut client = rust_test("loses_an_update", level);
        let line = client.found.line("assert_eq!(total.load(SeqCst), 2);");
        assert_eq!(client.stop["reason"], "exception", "{}", client.stop);
        assert_eq!(client.stop["threadId"], 1, "{}", client.stop);
        assert_eq!(client.own_frame(1)["line"], line, "{level:?}");
    }
}

#[test]
fn a_deadlock_starts_at_the_thread_that_waits_for_more_than_the_end_of_others() {
    let mut client = Client::of("rust/lost_wakeup.rs", Optimisation::O0);
    assert_eq!(client.stop["threadId"], 2, "{}", client.stop);
    assert_eq!(client.own_frame(2)["line"], client.found.line("IS_READY.wait(guard)"));
    assert_eq!(client.own_frame(1)["line"], client.found.line("consumer.join()"));
}

#[test]
fn a_failed_expectation_starts_at_its_line() {
    // Libraries count for what stands before them only, but whole ones for everything.
    let gtest = "-Wl,--push-state,--whole-archive,-lgtest,-lgtest_main,--pop-state";
    let program = Build::new("frameworks/expectation.cpp", Optimisation::O0).flag(gtest).program().unwrap();
    let source = targets().join("frameworks/expectation.cpp");
    let found = Found::with_arguments(program, &source, &["--gtest_filter=Counter.Counts"]);
    let mut client = Client::open(found);
    assert_eq!(client.stop["reason"], "exception", "{}", client.stop);
    let text = client.stop["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("an expectation of the test failed: "), "{text}");
    assert_eq!(client.own_frame(1)["line"], client.found.line("FAILS HERE"));
    // In the round that failed: the line is reached in others as well.
    assert_eq!(client.value("round"), "1");
    assert_eq!(client.value("counter"), "1");
}

#[test]
fn a_test_of_gtest_begins_with_its_own_first_line_and_not_with_what_gtest_generates() {
    let gtest = "-Wl,--push-state,--whole-archive,-lgtest,-lgtest_main,--pop-state";
    let program = Build::new("frameworks/parameters.cpp", Optimisation::O0).flag(gtest).program().unwrap();
    let source = targets().join("frameworks/parameters.cpp");
    let found =
        Found::with_arguments(program, &source, &["--gtest_filter=Counter.Counts/*:*/Counter.Counts/*"]);
    let mut client = Client::open(found);
    let first = client.found.line("FIRST LINE");
    client.rewind();
    assert_eq!(client.description(), "the start");
    assert_eq!(client.own_frame(1)["line"], first);
    let back = client.go("stepBack", 1);
    assert_eq!(client.description(), "T1 begins here", "{back:?}");
    assert_eq!(client.own_frame(1)["line"], first);
    // Step by step as well.
    client.go("continue", 1);
    for _ in 0..50 {
        client.go("stepBack", 1);
        if client.description() == "T1 begins here" {
            break;
        }
    }
    assert_eq!(client.description(), "T1 begins here");
    assert_eq!(client.own_frame(1)["line"], first);
}

#[test]
fn an_expectation_that_is_written_late_starts_where_it_failed_first() {
    let program = Build::new("frameworks/doctest_expectation.cpp", Optimisation::O0).program().unwrap();
    let source = targets().join("frameworks/doctest_expectation.cpp");
    let mut client =
        Client::open(Found::with_arguments(program, &source, &["--test-case=counts", "--no-breaks=true"]));
    let text = client.stop["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("an expectation of the test failed: "), "{text}");
    assert_eq!(client.own_frame(1)["line"], client.found.line("FAILS HERE"));
    assert_eq!((client.value("round"), client.value("counter")), ("1".to_owned(), "1".to_owned()));
}

#[test]
fn a_launch_that_is_refused_does_not_spoil_the_next_one() {
    let found = Found::in_target("c/reader_writer.c", Optimisation::O0);
    let mut adapter = Adapter::start().unwrap();
    adapter.succeed("initialize", &json!({"adapterID": "interleaver"}));
    let missing = adapter.refused("launch", &json!({"schedule": "none.json", "folder": workspace()}));
    assert!(missing.contains("none.json"), "{missing}");
    for _ in 0..2 {
        adapter.succeed("launch", &json!({"schedule": found.schedule, "folder": workspace()}));
        adapter.event("initialized");
        adapter.succeed("configurationDone", &Value::Null);
        assert_eq!(adapter.event("stopped")["reason"], "exception");
        let again = adapter.refused("launch", &json!({"schedule": found.schedule, "folder": workspace()}));
        assert_eq!(again, "a schedule has been launched already");
        adapter.succeed("terminate", &Value::Null);
        adapter.event("terminated");
        assert_eq!(running(&found.program), [] as [i32; 0]);
    }
    adapter.succeed("disconnect", &Value::Null);
    assert_eq!(adapter.wait(), Some(0));
}

#[test]
fn one_client_after_another_is_served_at_a_port() {
    let found = Found::in_target("c/three_threads.c", Optimisation::O0);
    let server = tests::Server::start().unwrap();
    for is_refused in [true, false, false] {
        let mut adapter = server.connect();
        adapter.succeed("initialize", &json!({"adapterID": "interleaver"}));
        if is_refused {
            adapter.refused("launch", &json!({"schedule": "none.json", "folder": workspace()}));
        } else {
            adapter.succeed("launch", &json!({"schedule": found.schedule, "folder": workspace()}));
            adapter.event("initialized");
            adapter.succeed("configurationDone", &Value::Null);
            assert_eq!(adapter.event("stopped")["reason"], "exception");
        }
        // Some say so, some just go.
        if !is_refused {
            adapter.succeed("disconnect", &Value::Null);
        }
        adapter.close();
    }
}
