//! Stores of older versions: sentences alone said there what data says now.

use serde_json::Value;

use super::*;
use crate::report::Role;
use crate::store::findings::KeptFolder;

/// The members that older versions did not write: with `doing`, parties of reports are told from those of schedule files.
fn as_before(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let is_saved_failure = members.contains_key("at") && members.contains_key("fewest");
            let is_run = members.contains_key("ended");
            let is_party = members.contains_key("doing");
            for (name, was_added) in
                [("parties", is_saved_failure), ("reason", is_run), ("role", is_party), ("headline", true)]
            {
                if was_added {
                    members.remove(name);
                }
            }
            members.values_mut().for_each(as_before);
        }
        Value::Array(all) => all.iter_mut().for_each(as_before),
        _ => {}
    }
}

fn rewrite(file: &Path) {
    let mut value: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    as_before(&mut value);
    std::fs::write(file, serde_json::to_vec(&value).unwrap()).unwrap();
}

#[test]
fn a_store_of_an_older_version_says_what_it_said() {
    for program in [LOST_UPDATE, LOCK_ORDER] {
        let explored = explore(program);
        let folder = KeptFolder::at(explored.folder.path());
        let (now, last) = (folder.findings(), folder.target().unwrap().last);
        for file in [format!("findings/{}.json", now[0].id), "target.json".to_owned()] {
            rewrite(&explored.folder.path().join(file));
        }
        let (before, last_before) = (folder.findings(), folder.target().unwrap().last);
        assert_eq!(last_before.reason, None);
        assert_eq!(last_before.reason(), last.reason());
        let roles = |kept: &[crate::store::findings::KeptFinding]| {
            kept[0].finding.parties.iter().map(|party| party.role).collect::<Vec<Role>>()
        };
        assert_eq!((before.len(), roles(&before)), (now.len(), roles(&now)), "{program}");
    }
}

#[test]
fn a_schedule_of_an_older_version_replays() {
    for program in [LOST_UPDATE, LOCK_ORDER] {
        let explored = explore(program);
        let now = ScheduleFile::read(&explored.schedule_file()).unwrap();
        let mut value: Value = serde_json::to_value(&now).unwrap();
        as_before(&mut value);
        let before: ScheduleFile = serde_json::from_value(value).unwrap();
        assert_eq!(before.failure.parties, []);
        let first = |file: &ScheduleFile| file.failure.first_party();
        assert_eq!(first(&before), first(&now), "{program}");
        let file = explored.folder.path().join("before.json");
        let mut text = Vec::new();
        before.write(&mut text).unwrap();
        std::fs::write(&file, text).unwrap();
        let again = replay(&file, program, "build-1").unwrap();
        assert_eq!(again.findings[0].kind, explored.report.findings[0].kind);
    }
}
