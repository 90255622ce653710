//! Programs that act outside of their memory: they fill pipes, make files, start programs.

use std::fs;
use std::path::Path;

use tests::{Build, Optimisation, Tool, levels};

#[test]
fn it_writes_more_than_there_is_room_for() {
    for (nth, (flag, kind)) in
        [("-DALL", None), ("-DUNREAD", Some("always-fails")), ("-DTWO", Some("assertion"))]
            .into_iter()
            .enumerate()
    {
        for (other, how) in ["pipe", "socket"].into_iter().enumerate() {
            let build =
                Build::new("input_output/writes_large.c", Optimisation::ALL[(nth + other) % 2]).flag(flag);
            let outcome = Tool::explore::<&str>([], &build.program().unwrap()).and([how]).run().unwrap();
            assert_eq!(outcome.code, i32::from(kind.is_some()), "{flag} {how}: {}", outcome.transcript());
            assert_eq!(outcome.report["findings"][0]["kind"].as_str(), kind, "{}", outcome.transcript());
        }
    }
}

/// Files of an execution are not there for the next one, and files that were there before stay.
#[test]
fn it_leaves_files_behind_whose_names_it_chooses_anew() {
    for level in levels("leaves_temporaries") {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("before"), "").unwrap();
        let program = Build::new("input_output/leaves_temporaries.c", level).program().unwrap();
        let options = ["--cwd".as_ref(), folder.path().as_os_str()];
        let outcome = Tool::explore(options, &program).within_folder(folder.path()).run().unwrap();
        assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["before"], "{level:?}");
    }
}

/// Objects with names, which are there for other processes, are gone before the next execution.
#[test]
fn it_leaves_objects_behind_that_have_names() {
    let name = format!("interleaver-named-objects-{}", std::process::id());
    // One of the addresses at which a semaphore is mapped goes where the other one is known already.
    for (object, prefix, in_order) in [("-DSEMAPHORE", "sem.", 2), ("-DMEMORY", "", 0)] {
        for level in levels(object) {
            for (flags, expected) in [(&["-DTRY"][..], in_order), (&[], 1)] {
                let build = Build::new("input_output/named_objects.c", level).flag(object);
                let build = flags.iter().fold(build, |build, flag| build.flag(flag));
                let tool = Tool::explore::<&str>([], &build.program().unwrap());
                let outcome = tool.and([format!("/{name}")]).run().unwrap();
                assert_eq!(outcome.code, expected, "{build:?}: {}", outcome.transcript());
                assert!(!Path::new("/dev/shm").join(format!("{prefix}{name}")).exists(), "{build:?}");
            }
        }
    }
}

#[test]
fn it_starts_a_program_of_its_own() {
    for (nth, how) in ["posix_spawn", "system", "popen"].into_iter().enumerate() {
        let program = Build::new("processes/starts_itself.c", Optimisation::ALL[nth % 2]).program().unwrap();
        let outcome = Tool::explore::<&str>([], &program).and([how]).run().unwrap();
        assert_eq!(outcome.code, 2, "{how}: {}", outcome.transcript());
        assert_eq!(outcome.report["not_covered"][0]["kind"], "task", "{how}: {}", outcome.transcript());
    }
}

/// The schedule does not decide what another program writes: that an execution does not come again is no fault of the program.
#[test]
fn what_it_does_depends_on_another_program() {
    for level in levels("reads_chance") {
        let program = Build::new("processes/reads_chance.c", level).program().unwrap();
        let outcome = Tool::explore::<&str>([], &program).run().unwrap();
        let result = (outcome.code, &outcome.report["verdict"]);
        assert_eq!(result, (2, &"inconclusive".into()), "{level:?}: {}", outcome.transcript());
        assert!(outcome.says("does not do the same"), "{level:?}: {}", outcome.transcript());
    }
}

/// Copies of a process share what it has opened: where a constructor opens something, each execution is a new start.
#[test]
fn what_a_constructor_opens_is_new_in_each_execution() {
    for (flag, level) in ["-DFILE", "-DPIPE"].into_iter().zip(Optimisation::ALL) {
        let folder = tempfile::tempdir().unwrap();
        let build = Build::new("startup/opens_in_constructor.c", level).flag(flag);
        let options = ["--cwd".as_ref(), folder.path().as_os_str()];
        let outcome = Tool::explore(options, &build.program().unwrap()).within_folder(folder.path()).run();
        let outcome = outcome.unwrap();
        assert_eq!(outcome.code, 0, "{flag} {level:?}: {}", outcome.transcript());
        assert!(outcome.says("opens files that its copies would share"), "{}", outcome.transcript());
    }
}

/// Files of the C++ library: streams of a thread's own, one that threads use in turns, and questions about paths.
#[test]
fn files_of_the_cpp_library_are_explored() {
    for level in levels("cxx_files") {
        // Inlined code of a stream that nothing orders is watched, and shows the failure.
        let kinds =
            [("-DOWN", 0..=0), ("-DONE", 1..=2), ("-DTRY", 0..=0), ("-DPATH", 1..=1), ("-DMADE", 1..=1)];
        for (flag, codes) in kinds {
            let folder = tempfile::tempdir().unwrap();
            let build = Build::new("unseen/streams/cxx_files.cpp", level).flag(flag);
            let options = ["--cwd".as_ref(), folder.path().as_os_str()];
            let outcome =
                Tool::explore(options, &build.program().unwrap()).within_folder(folder.path()).run();
            let outcome = outcome.unwrap();
            assert!(codes.contains(&outcome.code), "{flag} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Effects of calls on streams outside of these: they take the claim away where nothing orders them.
#[test]
fn what_streams_leave_elsewhere_is_no_clean_schedule() {
    // In the last two the lock is of no use: calls through the table of functions, and the standard output, are not told apart.
    let kinds =
        [("-DCOUNT", 0), ("-DPOINTER", 0), ("-DMEMORY", 0), ("-DSIZE", 0), ("-DTABLE", 2), ("-DBACK", 2)];
    for (flag, code) in kinds {
        for level in levels(flag) {
            for (also, is_right) in [("-DBUG", 1..=2), ("-DTRY", code..=code)] {
                let folder = tempfile::tempdir().unwrap();
                let build = Build::new("unseen/streams/stream_leaks.cpp", level).flag(flag).flag(also);
                let options = ["--cwd".as_ref(), folder.path().as_os_str()];
                let program = build.program().unwrap();
                let outcome = Tool::explore(options, &program).within_folder(folder.path()).run().unwrap();
                assert!(
                    is_right.contains(&outcome.code),
                    "{flag} {also} {level:?}: {}",
                    outcome.transcript()
                );
            }
        }
    }
}
