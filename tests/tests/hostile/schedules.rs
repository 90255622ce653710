//! Schedules of strangers, on the command line and in the debug adapter.

use std::fs;
use std::path::Path;

use serde_json::json;
use tests::Adapter;

use crate::repository::{PLANTED, Surroundings};

#[test]
fn a_strangers_schedule_says_what_it_would_run_and_is_refused() {
    let top = Surroundings::new();
    let mark = format!("touch {}", top.path("marks/x").display());
    let preload = top.path("repository/marker.so");
    let schedules = [
        (top.plant_schedule("shell", Path::new("/bin/sh"), &["-c", &mark], &json!({})), "-c 'touch "),
        (
            top.plant_schedule(
                "preload",
                &top.path("repository/app"),
                &[],
                &json!({ "LD_PRELOAD": preload }),
            ),
            "LD_PRELOAD=",
        ),
        (
            top.plant_schedule("above", &top.path("repository/../repository/marker"), &[], &json!({})),
            "/marker",
        ),
    ];
    for (schedule, words) in &schedules {
        for verb in ["replay", "minimise"] {
            let outcome = top.tool([verb.as_ref(), schedule.as_os_str()]).run().unwrap();
            assert_eq!(outcome.code, 3, "{}", outcome.transcript());
            // Only the schedule of a finding can be minimised.
            if verb == "replay" {
                for phrase in [words, "--trust", "nothing was run"] {
                    assert!(outcome.says(phrase), "`{phrase}` is expected: {}", outcome.transcript());
                }
            }
        }
        let mut adapter = Adapter::start().unwrap();
        adapter.succeed("initialize", &json!({"adapterID": "interleaver"}));
        let refusal = adapter.refused("launch", &json!({"schedule": schedule, "folder": top.repository()}));
        assert!(refusal.contains("was not saved on this machine by you"), "{refusal}");
    }
    assert_eq!(top.marks(), 0);
    // With consent it runs, so a mark would have been seen.
    for (schedule, _) in &schedules[1..] {
        top.forget_marks();
        let outcome = top.tool(["replay".as_ref(), "--trust".as_ref(), schedule.as_os_str()]).run().unwrap();
        assert!(top.marks() > 0, "{}", outcome.transcript());
    }
}

/// Explores the program of the repository, and returns the schedule that was saved.
fn explored(top: &Surroundings) -> std::path::PathBuf {
    let outcome = top.explore(PLANTED).run().unwrap();
    outcome.finding()["schedule_file"].as_str().unwrap().into()
}

#[test]
fn ones_own_schedule_needs_no_consent_until_it_is_changed() {
    let top = Surroundings::new();
    let schedule = explored(&top);
    let replay = |file: &Path| top.tool(["replay".as_ref(), file.as_os_str()]).run().unwrap();
    assert_eq!(replay(&schedule).code, 1);
    let text = fs::read_to_string(&schedule).unwrap();
    let mark = top.path("repository/marker.so");
    let changed =
        text.replace("\"environment\": {", &format!("\"environment\": {{ \"LD_PRELOAD\": {mark:?},"));
    let changed = changed.replace(",}", "}");
    assert_ne!(changed, text);
    for text in [changed, text.replace("\"arguments\": []", "\"arguments\": [\"x\"]")] {
        fs::write(&schedule, text).unwrap();
        assert_eq!(replay(&schedule).code, 3);
    }
    fs::write(&schedule, &text).unwrap();
    assert_eq!(replay(&schedule).code, 1);
    // The schedule is then that of another user, or of another machine.
    let other = top
        .tool(["replay".as_ref(), schedule.as_os_str()])
        .with("XDG_STATE_HOME", top.path("mine").as_os_str());
    let outcome = other.run().unwrap();
    assert_eq!(outcome.code, 3, "{}", outcome.transcript());
    fs::remove_dir_all(top.path("mine/interleaver")).unwrap();
    assert_eq!(top.marks(), 0);
}

#[test]
fn a_seal_does_not_hold_in_another_folder() {
    let top = Surroundings::new();
    let schedule = explored(&top);
    fs::create_dir(top.path("clone")).unwrap();
    fs::rename(top.path("repository/.interleaver"), top.path("clone/.interleaver")).unwrap();
    fs::copy(top.path("repository/marker"), top.path("clone/app")).unwrap();
    let moved = top.path("clone").join(schedule.strip_prefix(top.repository()).unwrap());
    let words = ["replay".as_ref(), moved.as_os_str()];
    let outcome = top.tool(words).within_folder(&top.path("clone")).run().unwrap();
    assert_eq!(outcome.code, 3, "{}", outcome.transcript());
    assert!(outcome.says("another build"), "{}", outcome.transcript());
    assert_eq!(top.marks(), 0);
}

#[test]
fn a_copy_of_the_program_that_was_exchanged_is_not_debugged() {
    let top = Surroundings::new();
    let words = ["explore", "--format", "json", "--no-explain", "--max-schedules", "20", "--", "./app"];
    // The user of this process: the adapter has no other.
    let outcome = tests::Tool::new(words).within_folder(&top.repository()).run().unwrap();
    let schedule = outcome.finding()["schedule_file"].as_str().unwrap().to_owned();
    let programs = Path::new(&schedule).parent().unwrap().parent().unwrap().join("programs");
    let build = fs::read_dir(programs).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(build.join("app")).unwrap();
    fs::copy(top.path("repository/marker"), build.join("app")).unwrap();
    fs::remove_file(top.path("repository/app")).unwrap();
    let launch = json!({"schedule": schedule, "folder": top.repository(), "program": build.join("app")});
    let mut adapter = Adapter::start().unwrap();
    adapter.succeed("initialize", &json!({"adapterID": "interleaver"}));
    adapter.succeed("launch", &launch);
    // The recorded steps are shown, and nothing runs.
    assert_eq!(top.marks(), 0);
}
