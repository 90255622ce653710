//! The bundled programs themselves: all of them are listed, and the correct ones run to their end without the tool.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tests::{Build, Expectation, Language, Manifest, levels, targets};

#[test]
fn every_source_is_listed() {
    let listed: BTreeSet<PathBuf> = Manifest::read().unwrap().targets.iter().map(|it| it.source()).collect();
    let sources = Language::ALL.into_iter().flat_map(|language| {
        let files = fs::read_dir(targets().join(language.folder())).unwrap();
        files.map(move |file| PathBuf::from(language.folder()).join(file.unwrap().file_name()))
    });
    assert_eq!(sources.collect::<BTreeSet<_>>(), listed);
}

#[test]
fn every_bug_has_a_twin() {
    let targets = Manifest::read().unwrap().targets;
    for bug in targets.iter().filter(|target| target.is_bug()) {
        let is_twin = |other: &&tests::Target| {
            other.language == bug.language && other.name == format!("{}_ok", bug.name) && !other.is_bug()
        };
        assert_eq!(targets.iter().filter(is_twin).count(), 1, "{}", bug.source().display());
    }
}

#[test]
fn a_line_is_marked_where_there_is_a_bug_and_nowhere_else() {
    for target in Manifest::read().unwrap().targets {
        let is_marked = !target.failing_lines().unwrap().is_empty();
        assert_eq!(is_marked, target.is_bug(), "{}", target.source().display());
    }
}

#[test]
fn the_fewest_preemptions_of_every_bug_are_argued_for_at_the_head_of_its_source() {
    for target in Manifest::read().unwrap().targets {
        let Expectation::Found { preemptions, .. } = target.expectation else { continue };
        let source = fs::read_to_string(targets().join(target.source())).unwrap();
        let argued = source.lines().find_map(|line| line.split_once("Preemptions: "));
        let (_, argued) =
            argued.unwrap_or_else(|| panic!("{}: nothing is argued", target.source().display()));
        let number: String = argued.chars().take_while(char::is_ascii_digit).collect();
        assert_eq!(number, preemptions.to_string(), "{}", target.source().display());
        let reason = &argued[number.len()..];
        assert!(reason.len() > 20, "{}: {argued}", target.source().display());
    }
}

#[test]
fn every_bug_has_a_cause() {
    for target in Manifest::read().unwrap().targets {
        let has_one = target.cause.is_some();
        assert_eq!(has_one, target.is_bug(), "{}", target.source().display());
    }
}

#[test]
fn correct_programs_run_to_their_end() {
    let targets = Manifest::read().unwrap().targets;
    for target in targets.iter().filter(|target| !target.is_bug()) {
        for level in levels(&target.name) {
            let program = Build::new(target.source(), level).program().unwrap();
            let output = Command::new(&program).output().unwrap();
            assert!(output.status.success(), "{}: {output:?}", program.display());
        }
    }
}
