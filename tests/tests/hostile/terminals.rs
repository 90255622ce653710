//! Characters that a terminal obeys are shown, wherever names and output of others are printed.

use std::fs;

use crate::repository::Surroundings;

const SOURCE: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static int x;
static void *f(void *p) { x++; return p; }
int main(void)
{
    pthread_t t;
    fputs("\033]0;title\007\033[2J\xc2\x9b31m", stderr);
    pthread_create(&t, 0, f, 0);
    x++;
    pthread_join(t, 0);
    assert(x == 2);
    return 0;
}
"#;

/// Whether a text holds what moves a cursor, changes a title or turns a line around.
fn is_obeyed(text: &str) -> bool {
    text.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c))
}

#[test]
fn control_characters_of_names_and_output_are_shown() {
    let top = Surroundings::new();
    let name = "\u{1b}[31m\u{202e}a";
    let source = top.put(&format!("repository/{name}.c"), SOURCE);
    let program = top.path(&format!("repository/{name}"));
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-g", "-pthread", "-o"]).args([&program, &source]);
    assert!(compiler.status().unwrap().success());
    let explore = |format| {
        let words =
            ["explore", "--format", format, "--no-explain", "--max-schedules", "20", "--output", "out", "--"];
        top.tool(words).and([program.as_os_str()]).run().unwrap()
    };
    let outcomes = [
        explore("text"),
        explore("json"),
        explore("jsonl"),
        top.tool(["list", "."]).run().unwrap(),
        top.tool(["list", "--format", "json", "."]).run().unwrap(),
        top.tool(["list".as_ref(), top.path(&format!("repository/{name}/x")).as_os_str()]).run().unwrap(),
        top.tool(["replay".as_ref(), source.as_os_str()]).run().unwrap(),
    ];
    for outcome in outcomes {
        assert!(!is_obeyed(&outcome.stdout) && !is_obeyed(&outcome.stderr), "{}", outcome.transcript());
        assert!(outcome.stdout.contains("31m") || outcome.stderr.contains("31m"), "{}", outcome.transcript());
    }
    for words in [&[name][..], &["explore", "--strategy", name], &["dap", "--port", name], &["help", name]] {
        let outcome = top.tool(words).run().unwrap();
        assert!(!is_obeyed(&outcome.stdout) && !is_obeyed(&outcome.stderr), "{}", outcome.transcript());
    }
    assert!(!is_obeyed(&fs::read_to_string(top.path("repository/out/report.txt")).unwrap()));
}
