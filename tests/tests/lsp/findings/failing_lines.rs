//! The line of a diagnostic: where the thread stands that is to blame, in the user's own code.

use serde_json::{Value, json};

use crate::exploring::explore;
use crate::workspace::{Workspace, line_of};

/// Explores a program and gives its only diagnostic.
fn diagnostic(workspace: &Workspace, name: &str) -> Value {
    workspace.compile(name);
    let source = workspace.file(&format!("{name}.c"));
    let mut editor = workspace.editor();
    explore(&mut editor, &source);
    let published = editor.settled_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
    editor.end();
    published[0].clone()
}

/// Each text is a program; its diagnostic is of this kind, and in the line that says so.
fn check(name: &str, text: &str, kind: &str) -> Value {
    let workspace = Workspace::empty();
    let source = workspace.put(&format!("{name}.c"), text);
    let diagnostic = diagnostic(&workspace, name);
    assert_eq!(diagnostic["code"], kind, "{diagnostic:#}");
    assert_eq!(diagnostic["range"]["start"]["line"], line_of(&source, "/* HERE */"), "{diagnostic:#}");
    diagnostic
}

const THREAD: &str = "#include <pthread.h>\n#include <stdlib.h>\nstatic int total;\n\
     static void *add(void *unused)\n{\n    total++;\n    return unused;\n}\n\
     static void both(void)\n{\n    pthread_t other;\n    pthread_create(&other, NULL, add, NULL);\n    add(NULL);\n    \
     pthread_join(other, NULL);\n}\n";

#[test]
fn a_deadlock_is_where_the_circle_was_closed_and_the_others_are_related() {
    let text = "#include <pthread.h>\n#include <stddef.h>\n\
        static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;\n\
        static void *run(void *unused)\n{\n    pthread_mutex_lock(&b);\n    pthread_mutex_lock(&a); /* HERE */\n    \
        pthread_mutex_unlock(&a);\n    pthread_mutex_unlock(&b);\n    return unused;\n}\n\
        int main(void)\n{\n    pthread_t other;\n    pthread_create(&other, NULL, run, NULL);\n    \
        pthread_mutex_lock(&a);\n    pthread_mutex_lock(&b); /* OTHER */\n    pthread_mutex_unlock(&b);\n    \
        pthread_mutex_unlock(&a);\n    return pthread_join(other, NULL);\n}\n";
    let diagnostic = check("circle", text, "deadlock");
    let other = text.lines().position(|line| line.contains("OTHER")).unwrap();
    let related = diagnostic["relatedInformation"].as_array().unwrap();
    let last = related.last().unwrap();
    assert_eq!(last["location"]["range"]["start"]["line"], other, "{related:#?}");
    assert!(last["message"].as_str().unwrap().ends_with(" T1 waits for mutex `b`, held by T2"), "{last}");
}

#[test]
fn a_livelock_is_in_its_loop() {
    let text = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stddef.h>\n\
        static atomic_int turn;\n\
        static void *run(void *unused)\n{\n    int none = 0;\n    atomic_compare_exchange_strong(&turn, &none, 2);\n    \
        return unused;\n}\n\
        int main(void)\n{\n    pthread_t other;\n    pthread_create(&other, NULL, run, NULL);\n    int none = 0;\n    \
        atomic_compare_exchange_strong(&turn, &none, 1);\n    while (atomic_load(&turn) != 1) /* HERE */\n        ;\n    \
        return pthread_join(other, NULL);\n}\n";
    check("spins", text, "livelock");
}

#[test]
fn an_exit_code_is_where_main_returns_it_or_exit_is_called() {
    let returns = "int main(void)\n{\n    both();\n    if (total != 2)\n        return 3; /* HERE */\n    return 0;\n}\n";
    check("returns", &format!("{THREAD}{returns}"), "exit-code");
    let exits = "static void give_up(void)\n{\n    exit(4); /* HERE */\n}\n\
        int main(void)\n{\n    both();\n    if (total != 2)\n        give_up();\n    return 0;\n}\n";
    check("exits", &format!("{THREAD}{exits}"), "exit-code");
}

#[test]
fn where_no_frame_is_the_users_own_it_is_main() {
    let text = "#include <pthread.h>\n#include <stdlib.h>\ntypedef void *(*start)(void *);\n\
        int main(void) /* HERE */\n{\n    pthread_t other;\n    \
        pthread_create(&other, NULL, (start)(void (*)(void))abort, NULL);\n    return pthread_join(other, NULL);\n}\n";
    let diagnostic = check("nobody", text, "always-fails");
    assert_eq!(diagnostic["severity"], json!(1));
}

#[test]
fn an_exception_that_nobody_catches_says_what_it_is() {
    let text = "#include <stdexcept>\n#include <thread>\nint total;\nvoid add()\n{\n    total++;\n}\n\
        int main()\n{\n    std::thread one(add), other(add);\n    one.join();\n    other.join();\n    if (total != 2)\n        \
        throw std::runtime_error(\"boom\"); /* HERE */\n}\n";
    let workspace = Workspace::empty();
    let source = workspace.put("throws.cpp", text);
    let mut compiler = std::process::Command::new("g++");
    compiler.args(["-g", "-O0", "-pthread", "-o"]).arg(workspace.file("throws")).arg(&source);
    assert!(compiler.status().unwrap().success());
    let mut editor = workspace.editor();
    explore(&mut editor, &source);
    let found = editor.settled_diagnostics(&source, |diagnostics| diagnostics.len() == 1);
    let message = found[0]["message"].as_str().unwrap();
    assert_eq!(message.lines().next(), Some("uncaught exception std::runtime_error: boom"), "{message}");
    assert_eq!(found[0]["range"]["start"]["line"], line_of(&source, "/* HERE */"));
    editor.end();
}
