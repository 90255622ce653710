//! Findings without debug information are explained by symbol and instruction, and without symbols by instruction alone.

use serde_json::{Value, json};
use tests::{Build, Optimisation, Tool};

/// The explanation of a program that is built with a flag.
fn explanation(source: &str, flag: &str) -> Value {
    let program = Build::new(source, Optimisation::O0).flag(flag).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--output".as_ref(), folder.path().as_os_str()];
    let outcome = Tool::explain(options, &program).run().unwrap();
    let explanation = outcome.finding()["explanation"].clone();
    assert_eq!(explanation["missing"], json!([]), "{}", outcome.transcript());
    explanation
}

/// A sentence without the numbers of instructions and of stripped variables, which are the compiler's business.
fn without_numbers(sentence: &str) -> String {
    let is_digit = |letter: char| letter.is_ascii_hexdigit() || letter == 'x';
    let mut parts = sentence.split('+');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |told, part| told + "+" + part.trim_start_matches(is_digit))
}

#[test]
fn instructions_are_named_by_symbol() {
    for (source, flag, expected) in [
        (
            "c/check_then_act.c",
            "-g0",
            "atomicity violation: T3 reads `balance` (current_balance+), T2 writes it (withdraw+), and then T3 writes it \
             (withdraw+) as if nothing had come between",
        ),
        (
            "rust/lost_update.rs",
            "-Cstrip=debuginfo",
            "lost update: T3 reads `DOWNLOADS` (core::sync::atomic::atomic_load+), T2 writes it \
             (core::sync::atomic::atomic_store+), and then T3 writes it (core::sync::atomic::atomic_store+), which undoes \
             that",
        ),
    ] {
        let why = explanation(source, flag);
        assert_eq!(without_numbers(why["sentence"].as_str().unwrap()), expected, "{source}");
        for access in why["patterns"][0]["accesses"].as_array().unwrap() {
            assert_eq!((&access["file"], &access["line"]), (&Value::Null, &Value::Null), "{source}");
            let innermost = &access["stack"][0]["function"];
            assert_eq!(innermost, &access["function"], "{source}");
        }
    }
}

#[test]
fn instructions_of_stripped_programs_are_named_by_their_place_in_the_file() {
    let why = explanation("c/lost_update.c", "-s");
    let sentence = without_numbers(why["sentence"].as_str().unwrap());
    assert_eq!(
        sentence,
        "lost update: T3 reads `lost_update-s+` (lost_update-s+), T2 writes it (lost_update-s+), and then T3 writes it \
         (lost_update-s+), which undoes that"
    );
}
