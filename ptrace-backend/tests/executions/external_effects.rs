//! Actions of a program by which executions of it could meet outside of their memory.

use std::fs;

use crate::executions::compiled::compile;
use checker::program::{Choice, Execution, Program, Scope, Status, Stop, Until};
use ptrace_backend::{LaunchSpec, PtraceProgram};
use tempfile::TempDir;

const HEADERS: &str = "#include <arpa/inet.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
                       #include <sys/ipc.h>\n#include <sys/mman.h>\n#include <sys/shm.h>\n#include <sys/socket.h>\n\
                       #include <sys/stat.h>\n#include <sys/un.h>\n#include <sys/wait.h>\n#include <unistd.h>\n";

/// Launches a program with these definitions and this `main`, in the folder.
fn launch(folder: &TempDir, definitions: &str, main: &str) -> PtraceProgram {
    let source = folder.path().join("program.c");
    fs::write(&source, format!("{HEADERS}{definitions}\nint main(void)\n{{\n{main}\nreturn 0;\n}}\n"))
        .unwrap();
    let program = compile(folder, source.to_str().unwrap(), &["-Wno-unused-result"]);
    let spec = LaunchSpec { cwd: folder.path().to_owned(), ..LaunchSpec::new(program) };
    PtraceProgram::launch(spec).unwrap()
}

/// Runs the program once, to an end without a failure.
fn execute(program: &PtraceProgram) {
    let mut run = program.start(&Scope::All).unwrap();
    while let Some(view) = run.agents().iter().find(|view| view.status == Status::Enabled) {
        let choice = Choice { agent: view.agent, outcome: view.outcomes[0] };
        let batch = run.run(choice, &Until::one()).unwrap();
        assert_ne!(batch.stop, Stop::Failed);
    }
    let ending = run.finish();
    assert_eq!(String::from_utf8_lossy(&ending.stderr), "");
}

/// Whether that is so after one execution.
fn has_external_effects(main: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let program = launch(&folder, "", main);
    assert!(!program.has_external_effects(), "before it ran");
    execute(&program);
    program.has_external_effects()
}

#[test]
fn what_stays_in_memory_or_is_only_read_does_not() {
    for main in [
        "printf(\"%p\", malloc(1 << 20));",
        "if (!fopen(\"program.c\", \"r\")) return 1;",
        "if (!fopen(\"/dev/null\", \"w\")) return 1;",
        "mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);",
        "int ends[2]; char c; pipe(ends); write(ends[1], \"x\", 1); read(ends[0], &c, 1);",
        "int ends[2]; char c; socketpair(AF_UNIX, SOCK_STREAM, 0, ends); send(ends[1], \"x\", 1, 0); read(ends[0], &c, 1);",
        "struct stat found; stat(\"program.c\", &found);",
    ] {
        assert!(!has_external_effects(main), "{main}");
    }
}

#[test]
fn what_is_written_named_or_sent_does() {
    for main in [
        "if (!fopen(\"out\", \"w\")) return 1;",
        "if (!fopen(\"program.c\", \"a\")) return 1;",
        "if (open(\"program.c\", O_RDWR) < 0) return 1;",
        "if (open(\"new\", O_RDONLY | O_CREAT, 0600) < 0) return 1;",
        "shm_unlink(\"/interleaver-meets\"); if (shm_open(\"/interleaver-meets\", O_RDWR | O_CREAT, 0600) < 0) return 1;\n\
         shm_unlink(\"/interleaver-meets\");",
        "if (mkdir(\"new\", 0700)) return 1;",
        "if (rename(\"program.c\", \"renamed.c\")) return 1;",
        "if (unlink(\"program.c\")) return 1;",
        "if (mkfifo(\"pipe\", 0600)) return 1;",
        "struct sockaddr_in any = {.sin_family = AF_INET}; if (bind(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&any, \
         sizeof any)) return 1;",
        "struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = \"none\"}; \
         connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to);",
        "struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = \"none\"}; \
         sendto(socket(AF_UNIX, SOCK_DGRAM, 0), \"x\", 1, 0, (struct sockaddr *)&to, sizeof to);",
        "shmctl(shmget(IPC_PRIVATE, 4096, 0600), IPC_RMID, 0);",
        "pid_t child = fork(); if (!child) _exit(0); waitpid(child, 0, 0);",
    ] {
        assert!(has_external_effects(main), "{main}");
    }
}

#[test]
fn what_a_constructor_does_counts_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let constructor = "__attribute__((constructor)) static void begin(void) { mkdir(\"new\", 0700); }";
    assert!(launch(&folder, constructor, "").has_external_effects());
}
