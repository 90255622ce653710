//! The seeds of the fuzzers in `fuzz`, as they are and damaged.

use tests::foreign::{config, corpus, elf, schedule};

use super::change::{changed, changes};
use super::runs::run;

fn seeds(fuzzer: &str, parser: fn(&[u8])) {
    let seeds = corpus(fuzzer).unwrap();
    assert!(!seeds.is_empty());
    for (name, bytes) in &seeds {
        assert!(bytes.len() < 20_000, "fuzz/corpus/{fuzzer}/{name} is too large for a seed");
        parser(bytes);
    }
    run(fuzzer, 50, &(0..seeds.len(), changes()), |(which, changes)| {
        let (_, bytes) = &seeds[which];
        parser(&changed(bytes, 0..bytes.len(), &changes));
    });
}

#[test]
fn elf_seeds() {
    seeds("elf", elf);
}

#[test]
fn schedule_seeds() {
    seeds("schedule", schedule);
}

#[test]
fn config_seeds() {
    seeds("config", config);
}
