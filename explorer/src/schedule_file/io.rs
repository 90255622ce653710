//! Reading and writing schedule files, and what can be wrong with one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::content::{FORMAT, LONG_VERSION, ScheduleFile, VERSION};
use super::long_form::Numbered;

/// A schedule of more choices than these is written in the long form.
const LONG: usize = 2_000;

/// So many numbers of the long form stand in one line.
const IN_A_LINE: usize = 32;

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{}` {fault}", .path.display())]
pub struct ScheduleFileError {
    path: PathBuf,
    fault: FileFault,
}

/// Faults of a schedule file; each completes "the file …".
#[derive(Debug, thiserror::Error)]
enum FileFault {
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    #[error("is not a regular file")]
    NotAFile,
    #[error("is too large for a schedule file")]
    TooLarge,
    #[error("is truncated: it ends in the middle (line {0}); save it again")]
    Truncated(usize),
    #[error("is not a schedule file of interleaver")]
    Foreign,
    #[error(
        "has format version {0}, and this interleaver reads versions up to {LONG_VERSION}: update interleaver"
    )]
    Newer(u64),
    #[error("is corrupt: {0}")]
    Corrupt(serde_json::Error),
}

/// The members that show whether the rest can be read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Header {
    format: serde_json::Value,
    version: serde_json::Value,
}

/// The member of every file but those of the long form.
#[derive(Deserialize)]
struct ChoicesMember {
    #[serde(rename = "choices")]
    _choices: IgnoredAny,
}

impl ScheduleFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is not a whole schedule of a version that is known here.
    pub fn read(path: &Path) -> Result<Self, ScheduleFileError> {
        let failed = |fault| ScheduleFileError { path: path.to_owned(), fault };
        let bytes = files::read(path, files::Kind::Record).map_err(|error| {
            failed(match error.kind() {
                io::ErrorKind::FileTooLarge => FileFault::TooLarge,
                io::ErrorKind::IsADirectory | io::ErrorKind::Other => FileFault::NotAFile,
                _ => FileFault::Unreadable(error),
            })
        })?;
        Self::parse(&bytes).map_err(failed)
    }

    fn parse(bytes: &[u8]) -> Result<Self, FileFault> {
        let header: Header = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
            // Other files that are no JSON, an empty one among them, end too early as well.
            serde_json::error::Category::Eof if mentions_format(bytes) => FileFault::Truncated(error.line()),
            _ if mentions_format(bytes) => FileFault::Corrupt(error),
            _ => FileFault::Foreign,
        })?;
        if header.format != FORMAT {
            return Err(FileFault::Foreign);
        }
        if let Some(version) = header.version.as_u64().filter(|&version| version > u64::from(LONG_VERSION)) {
            return Err(FileFault::Newer(version));
        }
        // Again from the text: errors then say in which line.
        let mut file: Self = serde_json::from_slice(bytes).map_err(FileFault::Corrupt)?;
        if header.version == LONG_VERSION {
            let numbered: Numbered = serde_json::from_slice(bytes).map_err(FileFault::Corrupt)?;
            file.choices = numbered.choices().map_err(FileFault::Corrupt)?;
        } else if file.choices.is_empty() {
            let _: ChoicesMember = serde_json::from_slice(bytes).map_err(FileFault::Corrupt)?;
        }
        Ok(file)
    }

    /// Writes the file's content: one choice a line, so that a person and a version control system can read it. Of a long
    /// schedule, each choice that differs from the others has a line, and the sequence follows as numbers.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        self.write_as(to, self.seal.clone())
    }

    /// The same with another seal.
    pub(crate) fn write_as(&self, to: &mut dyn Write, seal: Option<String>) -> io::Result<()> {
        let is_long = self.choices.len() > LONG;
        let version = if is_long { LONG_VERSION } else { VERSION };
        let header = serde_json::to_string_pretty(&Self { version, seal, ..self.without_choices() })?;
        if self.choices.is_empty() {
            return writeln!(to, "{header}");
        }
        let head = header.strip_suffix("\"choices\": []\n}").expect("an empty list of choices comes last");
        to.write_all(head.as_bytes())?;
        if is_long {
            self.write_numbered(to)?;
        } else {
            let choices: Vec<String> =
                self.choices.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
            write_lines(to, "choices", &choices)?;
        }
        to.write_all(b"\n}\n")
    }

    fn write_numbered(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut distinct: Vec<String> = Vec::new();
        let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
        let mut sequence = Vec::with_capacity(self.choices.len());
        for choice in &self.choices {
            let text = serde_json::to_string(choice)?;
            sequence.push(*numbers.entry(text).or_insert_with_key(|text| {
                distinct.push(text.clone());
                distinct.len() - 1
            }));
        }
        let line = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let sequence: Vec<String> = sequence.chunks(IN_A_LINE).map(line).collect();
        write_lines(to, "distinct_choices", &distinct)?;
        to.write_all(b",\n  ")?;
        write_lines(to, "sequence", &sequence)
    }

    fn without_choices(&self) -> Self {
        Self {
            format: self.format.clone(),
            version: self.version,
            tool: self.tool.clone(),
            target: self.target.clone(),
            found_by: self.found_by.clone(),
            failure: self.failure.clone(),
            passes: self.passes.clone(),
            seal: None,
            choices: Vec::new(),
        }
    }
}

/// Writes a list, an element or several of them a line.
fn write_lines(to: &mut dyn Write, name: &str, lines: &[String]) -> io::Result<()> {
    write!(to, "\"{name}\": [\n    {}\n  ]", lines.join(",\n    "))
}

fn mentions_format(bytes: &[u8]) -> bool {
    bytes.windows(FORMAT.len()).take(200).any(|window| window == FORMAT.as_bytes())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use checker::failure::FailureKind;
    use checker::names::{Obj, ObjName, Site, ThreadName};
    use checker::operation::OpKind;
    use checker::program::{Epoch, OpOutcome};

    use super::super::long_form::MOST;
    use super::super::{Actor, FoundBy, KeyPoints, SavedChoice, SavedFailure, SavedTarget};
    use super::*;
    use crate::input::portable_path::Place;
    use crate::report::Location;

    pub(crate) fn example() -> ScheduleFile {
        let choice = |thread, operation, actor, outcome| SavedChoice {
            thread,
            operation,
            object: Some("counter".to_owned().into()),
            at: "worker, counter.c:7".to_owned().into(),
            site: Site(0xfeed_beef_feed_beef),
            actor,
            outcome,
        };
        let first = ThreadName::MAIN.child(1).unwrap();
        ScheduleFile {
            format: FORMAT.into(),
            version: VERSION,
            tool: "0.1.0".into(),
            target: SavedTarget {
                program: Place::Relative("build/counter".into()),
                link: None,
                name: None,
                build_id: "c0ffee".into(),
                arguments: vec!["--fast".into()],
                directory: Place::Relative("".into()),
                fresh_directory: false,
                stdin: None,
                client: String::new(),
                ready: String::new(),
                environment: BTreeMap::from([("LANG".into(), "C".into())]),
                ignore_exit_code: false,
                step_limit: 100_000,
                run_timeout: Duration::from_secs(10),
            },
            found_by: FoundBy {
                strategy: "icb".into(),
                seed: 0,
                schedule_number: 5,
                epoch: Epoch(2),
                key_points: KeyPoints {
                    instructions: vec![Site(0x10), Site(0x20)],
                    memory: vec![Obj { name: ObjName(0xabc), offset: 0x10, len: 4 }],
                    unordered_only: false,
                },
            },
            failure: SavedFailure {
                kind: FailureKind::Assertion,
                message: "assertion `counter == 2` failed".into(),
                at: vec!["T1 main: main, counter.c:20".into()],
                parties: Vec::new(),
                place: Some(Location {
                    file: Some("counter.c".into()),
                    line: Some(20),
                    function: Some("main".into()),
                }),
                preemptions: Some(1),
                fewest: true,
                delays: None,
                tried: None,
                minimised: false,
            },
            passes: None,
            seal: None,
            choices: vec![
                choice(ThreadName::MAIN, OpKind::Create, Actor::Thread, OpOutcome::Only),
                choice(first, OpKind::Timeout, Actor::Timeout, OpOutcome::Only),
                choice(ThreadName::MAIN, OpKind::Signal, Actor::Thread, OpOutcome::Wake(first)),
            ],
        }
    }

    fn text(file: &ScheduleFile) -> String {
        let mut text = Vec::new();
        file.write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn fault(bytes: &[u8]) -> String {
        ScheduleFile::parse(bytes).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let file = example();
        assert_eq!(ScheduleFile::parse(text(&file).as_bytes()).unwrap(), file);
        let empty = ScheduleFile { choices: Vec::new(), ..file };
        assert_eq!(ScheduleFile::parse(text(&empty).as_bytes()).unwrap(), empty);
    }

    #[test]
    fn a_person_reads_one_choice_a_line() {
        insta::assert_snapshot!(text(&example()), @r#"
        {
          "format": "interleaver-schedule",
          "version": 1,
          "tool": "0.1.0",
          "target": {
            "program": {
              "relative": "build/counter"
            },
            "build_id": "c0ffee",
            "arguments": [
              "--fast"
            ],
            "directory": {
              "relative": ""
            },
            "fresh_directory": false,
            "environment": {
              "LANG": "C"
            },
            "ignore_exit_code": false,
            "step_limit": 100000,
            "run_timeout_ms": 10000
          },
          "found_by": {
            "strategy": "icb",
            "seed": 0,
            "schedule_number": 5,
            "epoch": 2,
            "key_points": {
              "instructions": [
                "0x10",
                "0x20"
              ],
              "memory": [
                "abc+10/4"
              ]
            }
          },
          "failure": {
            "kind": "assertion",
            "message": "assertion `counter == 2` failed",
            "at": [
              "T1 main: main, counter.c:20"
            ],
            "place": {
              "file": "counter.c",
              "line": 20,
              "function": "main"
            },
            "preemptions": 1,
            "fewest": true,
            "delays": null
          },
          "choices": [
            {"thread":"main","operation":"create","object":"counter","at":"worker, counter.c:7","site":"0xfeedbeeffeedbeef"},
            {"thread":"main/1","operation":"timeout","object":"counter","at":"worker, counter.c:7","site":"0xfeedbeeffeedbeef","actor":"timeout"},
            {"thread":"main","operation":"signal","object":"counter","at":"worker, counter.c:7","site":"0xfeedbeeffeedbeef","pick":{"wake":"main/1"}}
          ]
        }
        "#);
    }

    fn long_example() -> ScheduleFile {
        let file = example();
        let choices = file.choices.iter().cycle().take(LONG + 1).cloned().collect();
        ScheduleFile { version: LONG_VERSION, choices, ..file }
    }

    #[test]
    fn a_long_schedule_lists_each_choice_once_and_is_read_back() {
        let file = long_example();
        let text = text(&file);
        assert_eq!(ScheduleFile::parse(text.as_bytes()).unwrap(), file);
        assert_eq!(text.matches("feedbeef").count(), 2 * example().choices.len());
        assert!(text.len() < 4 * file.choices.len(), "{}", text.len());
        let (_, list) = text.split_once("\"distinct_choices\": [").unwrap();
        insta::assert_snapshot!(list.split_inclusive('\n').take(6).collect::<String>(), @r#"
          {"thread":"main","operation":"create","object":"counter","at":"worker, counter.c:7","site":"0xfeedbeeffeedbeef"},
          {"thread":"main/1","operation":"timeout","object":"counter","at":"worker, counter.c:7","site":"0xfeedbeeffeedbeef","actor":"timeout"},
          {"thread":"main","operation":"signal","object":"counter","at":"worker, counter.c:7","site":"0xfeedbeeffeedbeef","pick":{"wake":"main/1"}}
        ],
        "sequence": [
        "#);
    }

    #[test]
    fn a_long_schedule_with_a_number_of_no_choice_is_corrupt() {
        let changed = text(&long_example()).replacen("0,1,2,0", "0,1,9,0", 1);
        assert_eq!(fault(changed.as_bytes()), "is corrupt: there is no distinct choice 9");
        let changed = text(&long_example()).replacen("sequence", "sequel", 1);
        assert!(fault(changed.as_bytes()).starts_with("is corrupt: missing field `sequence`"));
        let long = format!("\"sequence\": [{}0", "0,".repeat(MOST));
        let changed = text(&long_example()).replacen("\"sequence\": [\n    0", &long, 1);
        let expected = "is corrupt: invalid length 4000001, expected at most 4000000 numbers of choices";
        assert!(fault(changed.as_bytes()).starts_with(expected), "{}", fault(changed.as_bytes()));
        let changed = text(&example()).replacen("\"choices\"", "\"choice\"", 1);
        assert!(fault(changed.as_bytes()).starts_with("is corrupt: missing field `choices`"));
    }

    #[test]
    fn a_file_that_ends_early_is_truncated_wherever_it_ends() {
        let text = text(&example());
        // The first cut leaves enough of it to see what it was.
        for end in (60..text.trim_end().len()).step_by(7) {
            let fault = fault(&text.as_bytes()[..end]);
            assert!(fault.starts_with("is truncated"), "{end}: {fault}");
        }
    }

    #[test]
    fn other_files_are_foreign() {
        for bytes in [
            &b""[..],
            b"{}",
            b"[1, 2]",
            b"int main(void) {}",
            b"\x7fELF\x02\x01",
            br#"{"format":"other","version":1}"#,
        ] {
            assert_eq!(fault(bytes), "is not a schedule file of interleaver");
        }
    }

    #[test]
    fn a_newer_version_says_what_to_do() {
        let text = text(&example()).replace("\"version\": 1", "\"version\": 9");
        assert_eq!(
            fault(text.as_bytes()),
            "has format version 9, and this interleaver reads versions up to 2: update interleaver"
        );
    }

    #[test]
    fn damage_is_located() {
        let good = text(&example());
        for (what, with) in [
            ("\"main/1\",\"operation", "\"main/x\",\"operation"),
            ("0xfeed", "feed"),
            ("abc+10/4", "abc+10/0"),
            ("\"version\": 1", "\"version\": \"one\""),
            ("\"choices\"", "\"voices\""),
            ("\"operation\":\"create\"", "\"operation\":\"invent\""),
            ("  \"choices\": [", "  \"choices\" ["),
        ] {
            let bad = good.replacen(what, with, 1);
            assert_ne!(bad, good, "{what}");
            let fault = fault(bad.as_bytes());
            assert!(fault.starts_with("is corrupt: ") && fault.contains("line"), "{fault}");
        }
    }

    #[test]
    fn the_sentence_names_the_file() {
        let error = ScheduleFile::read(Path::new("/nonexistent/s.json")).unwrap_err().to_string();
        assert!(error.starts_with("`/nonexistent/s.json` cannot be read: "), "{error}");
        let error = ScheduleFile::read(Path::new("/")).unwrap_err().to_string();
        assert_eq!(error, "`/` is not a regular file");
    }
}
