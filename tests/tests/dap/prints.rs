//! The output that a program prints, be it written or not.

use serde_json::{Value, json};
use tests::Optimisation;

use crate::client::Client;

/// The output of a kind so far.
fn output(client: &mut Client, category: &str) -> String {
    let said = client.adapter.seen("output");
    let said = client.said.drain(..).chain(said);
    let of_kind = said.filter(|said| said["category"] == category);
    of_kind.filter_map(|said| said["output"].as_str().map(str::to_owned)).collect()
}

#[test]
fn what_is_printed_and_never_written_is_shown_and_said_to_be_lost() {
    for level in Optimisation::ALL {
        let mut client = Client::of("stepping/prints.c", level);
        let said = client.said.clone();
        assert_eq!(output(&mut client, "stdout"), "seen 0\nseen 0\n", "{level:?}");
        let lost = "the program ends before it writes the last 14 bytes of this standard output, which it has printed into \
            its buffer: outside of the debugger nobody sees them\n";
        assert!(said.iter().any(|said| said["output"] == lost), "{level:?}: {said:?}");
    }
}

#[test]
fn a_step_over_a_print_shows_what_it_prints() {
    let mut client = Client::of("stepping/prints.c", Optimisation::O0);
    while client.stop["reason"] != "entry" {
        client.rewind();
    }
    let line = client.found.line("print */");
    let source = json!({"path": client.found.source});
    let stop_at = |lines: Value| json!({"source": source, "breakpoints": lines});
    client.adapter.succeed("setBreakpoints", &stop_at(json!([{"line": line}])));
    client.go("continue", 1);
    let thread = client.stop["threadId"].as_u64().unwrap();
    client.adapter.succeed("setBreakpoints", &stop_at(json!([])));
    output(&mut client, "console");
    assert_eq!(client.go("next", thread).2, "write");
    let said = output(&mut client, "console");
    assert!(said.ends_with(": up to here, standard output ends with `seen 0`]\n"), "{said}");
}
