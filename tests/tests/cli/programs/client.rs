//! Programs that never end by themselves, explored with a client: its steps are an agent's, and its end ends the execution.

use std::path::{Path, PathBuf};

use tests::{Build, Optimisation, Outcome, Tool, levels};

fn built(source: &str, flags: &[&str], level: Optimisation) -> PathBuf {
    let build = Build::new(format!("client/{source}"), level);
    flags.iter().fold(build, |build, flag| build.flag(flag)).program().unwrap()
}

/// The client that asks so many connections at once, and then for a number.
fn asks(words: &str) -> String {
    format!("'{}' {words}", built("asks.c", &[], Optimisation::O2).display())
}

/// A program explored with a client; what is found is kept in a folder.
fn explore(program: &Path, client: &str, options: &[&str], folder: &Path) -> Outcome {
    let always = ["--workers", "1", "--max-preemptions", "1", "--client", client, "--output"];
    let all = options.iter().chain(&always).map(AsRef::as_ref).chain([folder.as_os_str()]);
    Tool::explore(all, program).run().unwrap()
}

/// A program at each level.
fn each(source: &str, flags: &[&str], client: &str, check: impl Fn(&Outcome, &Path)) {
    for level in levels(source) {
        let folder = tempfile::tempdir().unwrap();
        check(&explore(&built(source, flags, level), client, &[], folder.path()), folder.path());
    }
}

/// The report covers its bound, and has found nothing.
fn covers(outcome: &Outcome) {
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    assert_eq!(outcome.report["covered"]["preemptions"], 1, "{}", outcome.transcript());
}

/// The finding is of this kind, and its schedule fails each time that it is run.
fn fails(outcome: &Outcome, folder: &Path, kind: &str) {
    let finding = outcome.finding();
    assert!(outcome.code == 1 && finding["kind"] == kind, "{}", outcome.transcript());
    assert_eq!(finding["reproduced"], "2/2", "{}", outcome.transcript());
    let schedule = folder.join(finding["schedule_file"].as_str().unwrap_or_default());
    for _ in 0..2 {
        let again = Tool::new(["replay".as_ref(), schedule.as_os_str()]).run().unwrap();
        assert_eq!(again.code, 1, "{}", again.transcript());
    }
}

#[test]
fn a_job_that_is_handed_over_too_fast_is_lost() {
    each("hand_over.c", &[], &asks("2"), |outcome, folder| {
        fails(outcome, folder, "deadlock");
        assert!(outcome.says("the client waits for the program"), "{}", outcome.transcript());
    });
    let folder = tempfile::tempdir().unwrap();
    covers(&explore(&built("hand_over.c", &["-DQUEUE"], Optimisation::O0), &asks("2"), &[], folder.path()));
}

#[test]
fn an_update_that_is_lost_is_seen_by_the_client_alone() {
    each("counter.c", &[], &asks("2 2"), |outcome, folder| {
        fails(outcome, folder, "client");
        assert!(outcome.says("the client failed: exit code 1 (2 were expected)"), "{}", outcome.transcript());
    });
    let folder = tempfile::tempdir().unwrap();
    let program = built("counter.c", &["-DLOCKED"], Optimisation::O2);
    covers(&explore(&program, &asks("1 1"), &[], folder.path()));
}

#[test]
fn one_thread_waits_for_all_connections() {
    each("epoll.c", &[], &asks("2"), |outcome, _| covers(outcome));
    let folder = tempfile::tempdir().unwrap();
    covers(&explore(&built("epoll.c", &["-DLEVEL"], Optimisation::O2), &asks("2"), &[], folder.path()));
}

#[test]
fn what_goes_wrong_when_the_program_is_asked_to_end_is_found() {
    each("stops.c", &[], &asks("1"), |outcome, folder| fails(outcome, folder, "assertion"));
    let folder = tempfile::tempdir().unwrap();
    covers(&explore(&built("stops.c", &["-DJOINS"], Optimisation::O2), &asks("1"), &[], folder.path()));
}

#[test]
fn a_client_that_fails_fails_whatever_the_schedule() {
    let program = built("hand_over.c", &["-DQUEUE"], Optimisation::O2);
    let folder = tempfile::tempdir().unwrap();
    let outcome = explore(&program, "sh -c 'echo no >&2; exit 3'", &[], folder.path());
    assert_eq!(outcome.finding()["kind"], "always-fails", "{}", outcome.transcript());
    assert!(outcome.says("the client failed: exit code 3 (no)"), "{}", outcome.transcript());
    let ignored = ["--ignore-exit-code"];
    covers(&explore(&program, &format!("sh -c \"{}; exit 3\"", asks("1")), &ignored, folder.path()));
    let killed = explore(&program, "sh -c 'kill -9 $$'", &ignored, folder.path());
    assert!(killed.code == 1 && killed.says("SIGKILL"), "{}", killed.transcript());
}

#[test]
fn a_client_has_processes_of_its_own() {
    let program = built("hand_over.c", &["-DQUEUE"], Optimisation::O2);
    let ask = asks("1");
    let client = format!("sh -c \"{ask} && echo x | {{ read x; {ask}; }}; exit $?\"");
    let folder = tempfile::tempdir().unwrap();
    covers(&explore(&program, &client, &[], folder.path()));
}

/// Its time is virtual, and of what several of its threads could do first one order runs.
#[test]
fn a_client_has_threads_of_its_own() {
    let program = built("hand_over.c", &["-DQUEUE"], Optimisation::O2);
    let client = built("asks_at_once.c", &[], Optimisation::O2);
    let folder = tempfile::tempdir().unwrap();
    let client = format!("'{}'", client.display());
    let outcome = explore(&program, &client, &["--max-schedules", "5"], folder.path());
    assert!(outcome.code == 2 && outcome.report["findings"][0].is_null(), "{}", outcome.transcript());
    let unseen = &outcome.report["not_covered"][0]["kind"];
    assert_eq!(unseen, "client", "{}", outcome.transcript());
}

#[test]
fn a_client_begins_where_it_is_told_to() {
    let program = built("hand_over.c", &["-DQUEUE"], Optimisation::O2);
    let folder = tempfile::tempdir().unwrap();
    let ready = |ready: &str| explore(&program, &asks("1"), &["--ready", ready], folder.path());
    covers(&ready("4711"));
    let never = ready("4712");
    assert_eq!(never.code, 2, "{}", never.transcript());
    assert!(never.says("the client never began"), "{}", never.transcript());
    let wrong = ready("(");
    assert!(wrong.code == 3 && wrong.says("give a port, or a regular expression"), "{}", wrong.transcript());
}

#[test]
fn a_client_that_cannot_be_started_is_named() {
    let program = built("hand_over.c", &["-DQUEUE"], Optimisation::O2);
    let folder = tempfile::tempdir().unwrap();
    for (client, why) in [("no-such-client now", "there is no such program"), ("'", "a quotation mark")] {
        let outcome = explore(&program, client, &[], folder.path());
        let says = format!("the client `{client}` cannot be started: {why}");
        assert!(outcome.code == 3 && outcome.says(&says), "{}", outcome.transcript());
    }
}

#[test]
fn without_a_client_the_program_waits() {
    let program = built("hand_over.c", &["-DQUEUE"], Optimisation::O2);
    let folder = tempfile::tempdir().unwrap();
    let words = ["explore".as_ref(), "--no-explain".as_ref(), "--output".as_ref(), folder.path().as_os_str()];
    let outcome = Tool::new(words).and(["--".as_ref(), program.as_os_str()]).run().unwrap();
    assert!(outcome.code == 2 && outcome.says("none came (--client"), "{}", outcome.transcript());
}

/// A command that a workspace names is not one that the user has agreed to run.
#[test]
fn a_client_that_a_workspace_names_is_agreed_to_first() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server");
    std::fs::copy(built("hand_over.c", &["-DQUEUE"], Optimisation::O2), &program).unwrap();
    let mark = folder.path().join("mark");
    let client = format!("touch {}", mark.display());
    std::fs::write(folder.path().join("interleaver.toml"), format!("client = \"{client}\"\n")).unwrap();
    let run = |options: &[&str]| {
        let options = options.iter().chain(&["--max-schedules", "1"]);
        Tool::explore(options, &program).within_folder(folder.path()).run().unwrap()
    };
    let refused = run(&[]);
    assert!(
        refused.code == 3 && refused.says(&format!("names the client `{client}`")),
        "{}",
        refused.transcript()
    );
    assert!(!mark.exists());
    let none = run(&["--client", ""]);
    assert!(none.code == 2 && !mark.exists(), "{}", none.transcript());
    let agreed = run(&["--client", &client]);
    assert!(mark.exists(), "{}", agreed.transcript());
}
