//! Failures that no frame is left of: what `main` or a test returns.

use serde_json::Value;
use tests::Optimisation;

use crate::client::Client;
use crate::starts::rust_test;

/// Checks that the session stands at the failure, in thread 1, in the line with these words; and so again after a way
/// back and forward.
fn assert_opens_at(client: &mut Client, words: &str, what: &str) {
    let line = client.found.line(words);
    for _ in 0..2 {
        assert_eq!(client.stop["reason"], "exception", "{what}: {}", client.stop);
        assert_eq!(client.stop["threadId"], 1, "{what}: {}", client.stop);
        assert_eq!(client.own_frame(1)["line"], line, "{what}");
        let threads = client.adapter.succeed("threads", &Value::Null).to_string();
        assert!(threads.contains("\"id\":1") && threads.contains(" · failed\""), "{what}: {threads}");
        client.rewind();
        assert_eq!(client.description(), "the start", "{what}");
        client.go("continue", 1);
    }
}

#[test]
fn an_exit_code_is_where_main_returns_it() {
    for source in ["stepping/returns.c", "stepping/rust/returns.rs"] {
        for level in Optimisation::ALL {
            let mut client = Client::of(source, level);
            assert_opens_at(&mut client, "RETURNS", &format!("{source} {level:?}"));
        }
    }
}

#[test]
fn back_from_where_main_returns_is_the_line_before() {
    let mut client = Client::of("stepping/returns.c", Optimisation::O0);
    assert_eq!(client.words("stepBack", 1, 3), ["complain", "check", "join second"]);
    assert_eq!(client.words("next", 1, 2), ["check", "complain"]);
    assert_eq!(client.go("next", 1).2, "RETURNS");
    assert_eq!(client.stop["reason"], "exception");
}

#[test]
fn a_rust_test_that_returns_an_error_or_does_not_panic_ends_at_its_last_line() {
    for (test, words) in
        [("returns_an_error", "RETURNS AN ERROR"), ("does_not_always_panic", "DOES NOT PANIC")]
    {
        for level in Optimisation::ALL {
            assert_opens_at(&mut rust_test(test, level), words, &format!("{test} {level:?}"));
        }
    }
}
