//! Steps by source line.

use tests::Optimisation;

use crate::client::Client;

/// A session of `stepping/lines.c` where the first thread has just been created, at its first line.
fn first_worker() -> Client {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    client.rewind();
    assert_eq!(client.words("next", 1, 3), ["flush", "create first", "create second"]);
    assert_eq!(client.go("next", 2), (2, "worker".to_owned(), "begin".to_owned()));
    client
}

#[test]
fn main_is_stepped_through_from_one_end_to_the_other_and_back() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O0);
    let lines =
        ["join second", "flush again", "two", "join first", "create second", "create first", "flush", "one"];
    assert_eq!(client.go("stepBack", 1).2, "FAILS HERE", "the beginning of the line that fails");
    assert_eq!(client.words("stepBack", 1, 8), lines);
    let first = client.stop.clone();
    assert_eq!(client.go("stepBack", 1).2, "one");
    assert_eq!(client.description(), "T1 begins here");
    assert_eq!(client.rewind().2, "one");
    assert_eq!(client.stop["threadId"], first["threadId"]);

    let forward: Vec<&str> = lines.iter().rev().skip(1).copied().chain(["FAILS HERE"]).collect();
    assert_eq!(client.words("next", 1, 8), forward);
    assert_eq!(client.stop["reason"], "step");
    client.go("next", 1);
    assert_eq!(
        (client.stop["reason"].as_str(), client.description()),
        (Some("exception"), "the failure".to_owned())
    );
}

#[test]
fn a_private_variable_has_its_value_of_each_time_that_a_line_of_a_loop_was_reached() {
    let mut client = first_worker();
    let expected = [
        ("loop", "1"),
        ("body", "1"),
        ("loop", "10"),
        ("body", "10"),
        ("loop", "101"),
        ("read", "101"),
        ("call", "101"),
        ("write", "202"),
        ("keep", "202"),
    ];
    for (line, local) in expected {
        assert_eq!((client.go("next", 2).2.as_str(), client.value("local").as_str()), (line, local));
    }
    for (line, local) in expected.iter().rev().skip(1) {
        assert_eq!((client.go("stepBack", 2).2.as_str(), client.value("local").as_str()), (*line, *local));
    }
    assert_eq!(client.go("stepBack", 2).2, "begin");
    assert_eq!(client.go("stepBack", 2).2, "begin");
    assert_eq!(client.description(), "T2 begins here");
    // Another thread's variables are those of the same moment.
    assert_eq!(client.position()["step"], 1);
}

#[test]
fn the_other_threads_run_as_recorded_while_one_is_stepped() {
    let mut client = first_worker();
    client.words("next", 2, 6);
    assert_eq!(client.position()["step"], 1);
    // The read is where the first worker is preempted: its next line comes after the creation and the read of the other.
    assert_eq!(client.go("next", 2).2, "call");
    assert_eq!((client.value("seen"), client.value("shared")), ("0".to_owned(), "0".to_owned()));
    assert_eq!(client.position()["step"], 4);
    assert_eq!(client.own_frame(3)["line"], client.found.line("shared = seen + 1"));
}

#[test]
fn calls_are_stepped_into_out_of_and_over_both_ways() {
    let mut client = first_worker();
    client.words("next", 2, 7);
    assert_eq!(client.go("stepIn", 2), (2, "twice".to_owned(), "in twice".to_owned()));
    assert_eq!(client.value("value"), "101");
    assert_eq!(client.go("next", 2).2, "out of twice");
    assert_eq!(client.go("stepOut", 2), (2, "worker".to_owned(), "call".to_owned()));
    assert_eq!(client.go("next", 2).2, "write");
    assert_eq!(client.go("stepBack", 2).2, "call");
    assert_eq!(client.go("next", 2).2, "write");
    assert_eq!(client.go("interleaver/stepBackInto", 2), (2, "twice".to_owned(), "end of twice".to_owned()));
    assert_eq!(client.go("interleaver/stepBackOut", 2), (2, "worker".to_owned(), "call".to_owned()));
    assert_eq!(client.value("local"), "101");
    client.go("stepIn", 2);
    assert_eq!(client.go("stepBack", 2).2, "call", "back out of a call at its first line");
}

#[test]
fn where_a_thread_comes_to_no_line_any_more_the_stop_says_why() {
    let mut client = first_worker();
    client.words("next", 2, 9);
    assert_eq!(client.words("next", 2, 2), ["end", "end of worker"]);
    let (thread, _, _) = client.go("next", 2);
    assert_ne!(thread, 2);
    assert_eq!(client.description(), format!("T2 has ended · switched to T{thread}"));

    let mut deadlock = Client::of("c/lock_order.c", Optimisation::O0);
    let blocked = deadlock.go("next", 2);
    assert_eq!(blocked.0, 2);
    assert!(deadlock.description().starts_with("T2 stays blocked on lock "), "{}", deadlock.description());
    let position = deadlock.position();
    assert_eq!(position["step"], position["steps"], "it does not move");
}

#[test]
fn out_of_the_outermost_function_backwards_is_its_first_line() {
    let mut client = first_worker();
    client.words("next", 2, 6);
    assert_eq!(client.go("interleaver/stepBackOut", 2).2, "begin");
    assert!(client.description().starts_with("step "), "{}", client.description());
    assert_eq!(client.go("interleaver/stepBackOut", 2).2, "begin");
    assert_eq!(client.description(), "T2 begins here");
}

#[test]
fn code_that_was_moved_out_of_its_function_is_stepped_through() {
    let mut client = Client::of("stepping/cold.c", Optimisation::O2);
    client.rewind();
    while client.go("next", 1).2 != "join" {}
    let mut lines = Vec::new();
    while client.stop["reason"] != "exception" {
        lines.push(client.go("next", 1).2);
    }
    let expected = ["check", "report", "report more", "FAILS HERE", "FAILS HERE"];
    assert_eq!(lines, expected);
    let mut back = client.words("stepBack", 1, 5);
    back.reverse();
    assert_eq!(back, ["join", "check", "report", "report more", "FAILS HERE"]);
}

#[test]
fn optimised_code_is_stepped_through_by_the_lines_that_are_left_of_it() {
    let mut client = Client::of("stepping/lines.c", Optimisation::O2);
    client.rewind();
    assert_eq!(client.words("next", 1, 3), ["flush", "create first", "create second"]);
    assert_eq!(client.go("next", 2).2, "call");
    assert_eq!(client.go("stepIn", 2).1, "twice");
    assert_eq!(client.go("next", 2), (2, "worker".to_owned(), "write".to_owned()));
    // The value that it keeps is stored before that.
    assert_eq!(client.go("next", 2).2, "end");
    assert_eq!(client.words("stepBack", 2, 2), ["write", "call"]);
}
