//! Tests of seals: their scope, and the changes that break them.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use super::*;
use crate::input::os_text::OsText;
use crate::input::portable_path::Place;
use crate::schedule_file::example;

fn key() -> SealKey {
    SealKey::in_folder(tempfile::tempdir().unwrap().path()).unwrap()
}

#[test]
fn a_seal_is_broken_by_every_change_of_what_would_run() {
    let (key, root) = (key(), Path::new("/nowhere"));
    let schedule = example();
    let sealed = mac(&key, &schedule, root);
    assert_eq!(mac(&key, &ScheduleFile { seal: Some("x".to_owned()), ..schedule.clone() }, root), sealed);
    let changes: [fn(&mut SavedTarget); 8] = [
        |target| target.program = Place::Absolute("/bin/sh".into()),
        |target| target.name = Some("sh".into()),
        |target| target.arguments.push("-c".into()),
        |target| target.directory = Place::Relative("..".into()),
        |target| target.stdin = Some(Place::Absolute("/etc/passwd".into())),
        |target| target.environment = BTreeMap::from([("LD_PRELOAD".to_owned(), OsText::from("x.so"))]),
        |target| target.build_id.push('0'),
        |target| target.run_timeout = Duration::MAX,
    ];
    for change in changes {
        let mut other = schedule.clone();
        change(&mut other.target);
        assert_ne!(mac(&key, &other, root), sealed, "{:?}", other.target);
    }
    let fewer = ScheduleFile { choices: Vec::new(), ..schedule.clone() };
    assert_ne!(mac(&key, &fewer, root), sealed);
}

#[test]
fn a_seal_is_of_one_user_and_one_folder() {
    let (own, schedule) = (key(), example());
    let sealed = mac(&own, &schedule, Path::new("/nowhere"));
    assert_ne!(mac(&key(), &schedule, Path::new("/nowhere")), sealed);
    assert_ne!(mac(&own, &schedule, Path::new("/elsewhere")), sealed);
}

#[test]
fn a_copy_of_a_program_is_known_by_its_content() {
    let key = key();
    let mac = |text: &[u8], build: &str| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        program_mac(&key, &file, build).unwrap()
    };
    assert_eq!(mac(b"program", "1"), mac(b"program", "1"));
    assert_ne!(mac(b"program", "1"), mac(b"another", "1"));
    assert_ne!(mac(b"program", "1"), mac(b"program", "2"));
}
