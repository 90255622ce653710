//! Nothing is read from a sentence: a tool whose sentences have no words comes to the same verdicts, kinds, identities and JSON.

use std::time::Duration;

use serde_json::Value;
use tests::{Build, Manifest, Optimisation, Tool};

/// The members of reports that hold a sentence, or differ from one run to the next.
const LEFT_OUT: [&str; 12] = [
    "doing",
    "ended",
    "harm",
    "headline",
    "message",
    "missing",
    "notes",
    "reason",
    "sentence",
    "text",
    "elapsed_seconds",
    "schedules_per_second",
];

/// A report without its sentences.
fn data_of(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), data_of(value))).collect()
        }
        Value::Array(all) => all.iter().map(data_of).collect(),
        other => other.clone(),
    }
}

#[test]
#[ignore = "builds the tool a second time"]
fn a_tool_without_words_comes_to_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    for target in Manifest::read().unwrap().targets {
        let program = Build::new(target.source(), Optimisation::O0).program().unwrap();
        let tool = Tool::explain(["--output", output], &program).within(Duration::from_secs(300));
        let plain = tool.run().unwrap();
        let scrambled = tool.scrambled().run().unwrap();
        let at = target.source();
        assert_eq!(plain.code, scrambled.code, "{}", at.display());
        assert_eq!(data_of(&plain.report), data_of(&scrambled.report), "{}", at.display());
    }
}
