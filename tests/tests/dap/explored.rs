//! A finding is shown in the text that was explored, in the program that was explored, also when both are others by now.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tests::{Adapter, Tool};

/// A checkout with one program, explored into its own store.
struct Checkout {
    folder: tempfile::TempDir,
    schedule: PathBuf,
}

const TEXT: &str = include_str!("../../targets/c/lost_update.c");

impl Checkout {
    fn explored() -> Self {
        Self::made().explore()
    }

    fn made() -> Self {
        Self::of_text(TEXT)
    }

    fn of_text(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let checkout = Self { folder, schedule: PathBuf::new() };
        fs::write(checkout.root().join("interleaver.toml"), "").unwrap();
        fs::write(checkout.source(), text).unwrap();
        checkout.build();
        checkout
    }

    fn explore(mut self) -> Self {
        let outcome = Tool::explore([""; 0], &self.program()).run().unwrap();
        let schedule = outcome.finding()["schedule_file"].as_str().unwrap_or_default();
        assert!(Path::new(schedule).starts_with(self.root()), "{}", outcome.transcript());
        self.schedule = PathBuf::from(schedule);
        self
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn source(&self) -> PathBuf {
        self.root().join("views.c")
    }

    fn program(&self) -> PathBuf {
        self.root().join("views")
    }

    /// A folder of what the store keeps.
    fn kept(&self, folder: &str) -> PathBuf {
        self.schedule.parent().and_then(Path::parent).unwrap().join(folder)
    }

    fn build(&self) {
        let mut compiler = Command::new("cc");
        compiler.args(["-g", "-pthread", "-o"]).arg(self.program()).arg(self.source());
        assert!(compiler.status().unwrap().success());
    }

    fn open(&self) -> (Adapter, Value) {
        Adapter::launched(&self.schedule, &self.root())
    }
}

/// The innermost frame that has a source of the user's own.
fn own(adapter: &mut Adapter, thread: &Value) -> Value {
    let body = adapter.succeed("stackTrace", &json!({"threadId": thread}));
    let frames = body["stackFrames"].as_array().cloned().unwrap_or_default();
    frames.into_iter().find(|frame| frame["presentationHint"].is_null()).unwrap_or_default()
}

fn line(text: &str, words: &str) -> usize {
    text.lines().position(|line| line.contains(words)).unwrap() + 1
}

#[test]
fn while_the_file_is_as_it_was_it_is_what_is_shown() {
    let checkout = Checkout::explored();
    let (mut adapter, stop) = checkout.open();
    let source = own(&mut adapter, &stop["threadId"])["source"].clone();
    assert_eq!(source, json!({"name": "views.c", "path": checkout.source()}));
    let loaded = adapter.succeed("loadedSources", &Value::Null);
    assert_eq!(loaded["sources"], json!([source]));
}

#[test]
fn an_edited_file_is_shown_as_it_was_explored() {
    let checkout = Checkout::explored();
    let (mut adapter, stop) = checkout.open();
    fs::write(checkout.source(), format!("/* one more line */\n{TEXT}")).unwrap();
    let frame = own(&mut adapter, &stop["threadId"]);
    assert_eq!(frame["line"], line(TEXT, "FAILS HERE"));
    let source = &frame["source"];
    assert_eq!(source["path"], json!(checkout.source()));
    assert_eq!(source["origin"], "as explored: the file has been edited since");
    let reference = source["sourceReference"].clone();
    let text = adapter.succeed("source", &json!({"source": source, "sourceReference": reference}));
    assert_eq!((&text["content"], &text["mimeType"]), (&json!(TEXT), &json!("text/x-c")));
    let loaded = adapter.succeed("loadedSources", &Value::Null);
    assert_eq!(loaded["sources"], json!([source]));
    // Breakpoints in it are at its lines.
    let at = line(TEXT, "page_views++;");
    let arguments = json!({"source": source, "breakpoints": [{"line": at}]});
    let set = adapter.succeed("setBreakpoints", &arguments);
    assert_eq!(
        (&set["breakpoints"][0]["verified"], &set["breakpoints"][0]["line"]),
        (&json!(true), &json!(at))
    );
    let stop = adapter.go("reverseContinue", &json!({"threadId": 1}));
    assert_eq!(stop["reason"], "breakpoint", "{stop}");
    assert_eq!(own(&mut adapter, &stop["threadId"])["line"], at);
    assert_eq!(adapter.refused("source", &json!({"sourceReference": 99})), "there is no source of number 99");
    // Undone, it is the file again.
    fs::write(checkout.source(), TEXT).unwrap();
    assert_eq!(own(&mut adapter, &stop["threadId"])["source"]["sourceReference"], Value::Null);
}

#[test]
fn a_program_that_was_built_again_is_replayed_as_it_was_explored() {
    let checkout = Checkout::explored();
    let fixed = TEXT.replace("page_views++;", "__atomic_fetch_add(&page_views, 1, __ATOMIC_SEQ_CST);");
    assert_ne!(fixed, TEXT);
    fs::write(checkout.source(), format!("\n\n{fixed}")).unwrap();
    // A link to what is kept would be written through.
    fs::remove_file(checkout.program()).unwrap();
    checkout.build();
    let (mut adapter, stop) = checkout.open();
    assert_eq!(stop["reason"], "exception", "{stop}");
    let said = adapter.seen("output");
    let is_said = said.iter().any(|said| {
        said["output"] == "the program was rebuilt or removed since: the one that was explored runs\n"
    });
    assert!(is_said, "{said:?}");
    let frame = own(&mut adapter, &stop["threadId"]);
    assert_eq!(frame["line"], line(TEXT, "FAILS HERE"));
    let text = adapter.succeed("source", &json!({"sourceReference": frame["source"]["sourceReference"]}));
    assert_eq!(text["content"], TEXT);
}

#[test]
fn a_program_that_is_built_again_while_it_is_explored_is_kept_as_it_was_explored() {
    let mut checkout = Checkout::made();
    let later = checkout.root().join("later");
    fs::rename(checkout.program(), &later).unwrap();
    // The first execution puts the other build where this one was.
    let paths = [&later, &checkout.program()].map(|path| format!("{path:?}")).join(", ");
    let text = TEXT.replace("int main(void)\n{", &format!("int main(void)\n{{\n    rename({paths});"));
    let text = format!("#include <stdio.h>\n{text}");
    fs::write(checkout.source(), &text).unwrap();
    checkout.build();
    let explored = fs::read(checkout.program()).unwrap();
    checkout = checkout.explore();
    assert_ne!(fs::read(checkout.program()).unwrap(), explored);
    let builds = fs::read_dir(checkout.kept("programs")).unwrap().map(|build| build.unwrap().path());
    let kept: Vec<Vec<u8>> = builds.map(|build| fs::read(build.join("views")).unwrap()).collect();
    assert!(kept == [explored]);
    let (mut adapter, stop) = checkout.open();
    assert_eq!(own(&mut adapter, &stop["threadId"])["line"], line(&text, "FAILS HERE"));
    let said = adapter.seen("output");
    let is_said = said.iter().any(|said| {
        said["output"] == "the program was rebuilt or removed since: the one that was explored runs\n"
    });
    assert!(is_said, "{said:?}");
}

#[test]
fn without_any_program_the_recorded_steps_are_shown_in_the_text_of_then() {
    let checkout = Checkout::explored();
    fs::remove_file(checkout.program()).unwrap();
    fs::remove_dir_all(checkout.kept("programs")).unwrap();
    fs::remove_file(checkout.source()).unwrap();
    let (mut adapter, stop) = checkout.open();
    let said = adapter.seen("output");
    let first = said[0]["output"].as_str().unwrap_or_default();
    assert!(
        first.starts_with("only the recorded steps are shown, without stacks and variables: "),
        "{said:?}"
    );
    let frame = own(&mut adapter, &stop["threadId"]);
    assert!(frame["name"].as_str().is_some_and(|name| name.ends_with(" (as recorded)")), "{frame}");
    let text = adapter.succeed("source", &json!({"sourceReference": frame["source"]["sourceReference"]}));
    assert_eq!(text["content"], TEXT);
    assert_eq!(adapter.succeed("scopes", &json!({"frameId": frame["id"]})), json!({"scopes": []}));
    // Nor any text: the frame says which file there was.
    fs::remove_dir_all(checkout.kept("sources")).unwrap();
    fs::remove_dir_all(checkout.kept("findings")).unwrap();
    let (mut adapter, stop) = checkout.open();
    let frame = own(&mut adapter, &stop["threadId"]);
    let origin = format!("there is no file `{}`", checkout.source().display());
    assert_eq!(
        frame["source"],
        json!({"name": "views.c", "presentationHint": "deemphasize", "origin": origin})
    );
    let back = adapter.go("stepBack", &json!({"threadId": stop["threadId"]}));
    assert_eq!(back["reason"], "step", "{back}");
    let breakpoints = json!({"source": {"path": checkout.source()}, "breakpoints": [{"line": 3}]});
    let set = adapter.succeed("setBreakpoints", &breakpoints);
    assert_eq!(
        set["breakpoints"][0]["message"],
        "the program does not run here, so that nothing can stop at a line"
    );
}

#[test]
fn without_any_program_it_opens_at_the_failing_line_all_the_same() {
    let text = include_str!("../../targets/stepping/prints.c");
    let checkout = Checkout::of_text(text).explore();
    fs::remove_file(checkout.program()).unwrap();
    fs::remove_dir_all(checkout.kept("programs")).unwrap();
    let (mut adapter, stop) = checkout.open();
    assert_eq!(stop["reason"], "exception", "{stop}");
    // The last step is the one before.
    assert_eq!(own(&mut adapter, &stop["threadId"])["line"], line(text, "FAILS HERE"));
    let back = adapter.go("stepBack", &json!({"threadId": stop["threadId"]}));
    assert_eq!(own(&mut adapter, &back["threadId"])["line"], line(text, "/* join second */"));
}

#[test]
fn without_any_program_an_exit_code_opens_at_the_line_that_returned_it() {
    let text = include_str!("../../targets/stepping/returns.c");
    let checkout = Checkout::of_text(text).explore();
    fs::remove_file(checkout.program()).unwrap();
    fs::remove_dir_all(checkout.kept("programs")).unwrap();
    let (mut adapter, stop) = checkout.open();
    assert_eq!(stop["reason"], "exception", "{stop}");
    assert_eq!(stop["threadId"], 1, "{stop}");
    let frame = own(&mut adapter, &stop["threadId"]);
    assert_eq!(frame["line"], line(text, "RETURNS"), "{frame}");
    let back = adapter.go("stepBack", &json!({"threadId": 1}));
    assert_eq!(own(&mut adapter, &back["threadId"])["line"], line(text, "/* join second */"));
}

#[test]
fn a_program_that_was_older_than_its_source_says_so() {
    let older = "the program was older than `views.c` when it was explored: its lines may be others than those that are shown\n";
    for is_older in [false, true] {
        let checkout = Checkout::made();
        if is_older {
            let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
            fs::File::options().append(true).open(checkout.source()).unwrap().set_modified(later).unwrap();
        }
        let (mut adapter, _) = checkout.explore().open();
        let said = adapter.seen("output");
        assert_eq!(said.iter().any(|said| said["output"] == older), is_older, "{said:?}");
    }
}
