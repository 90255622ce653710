//! Tests of reading the configuration, and of the problems that are reported.

use std::fs;
use std::path::Path;
use std::time::Duration;

use checker::names::ThreadName;
use checker::object_description::{BlockDescription, BlockOrigin, BlockPart, ObjectDescription};

use super::*;
use crate::input::request::{MemoryModel, Request, Strategy};
use crate::narrate::sentences::objects;
use crate::report::{Location, OpKind, Race, RaceKind, RacingAccess};

/// The problems of a text: line, column, sentence.
fn problems(text: &str) -> Vec<(u32, u32, String)> {
    let (_, problems) = Config::parse(text, Path::new("/w"));
    problems.into_iter().map(|problem| (problem.line, problem.column, problem.sentence)).collect()
}

#[test]
fn everything_can_be_said() {
    let text = r#"
build = "make"
search = ["out/bin", "/opt/x"]
ignore = ["third_party"]
strategy = "idb"
max-preemptions = 1
max-delays = 0x10
depth = 5
max-variables = 5
max-threads = 5
max-periods = 5
max-schedules = 1_000
time-limit = "2m"
explain-time = "3s"
run-timeout = "500ms"
step-limit = 7
seed = 8
memory-model = "sc"
max-stall = "20ms"
assume = ["libtbb.so", "file"]
keep-going = true
ignore-exit-code = true
fresh-dir = true
lock-order = false
client = "ask 'all at once'"
ready = "80"

[[target]]
program = "build/app"
args = ["-v", "x y"]
cwd = "data"
stdin = "data/in"
env = { A = "1", B = "" }
strategy = "random"
assume = []
creates-threads = true

[[target]]
name = "other"
program = "build/app"
build = "make app"
env.C = "2"
"#;
    let (config, problems) = Config::parse(text, Path::new("/w"));
    assert_eq!(problems, []);
    assert_eq!(config.build.as_deref(), Some("make"));
    assert_eq!(config.search, [Path::new("/w/out/bin"), Path::new("/opt/x")]);
    assert_eq!(config.ignore, [Path::new("/w/third_party")]);
    let expected = Settings {
        strategy: Some(Strategy::Idb),
        max_preemptions: Some(1),
        max_delays: Some(16),
        depth: Some(5),
        max_variables: Some(5),
        max_threads: Some(5),
        max_periods: Some(5),
        max_schedules: Some(1000),
        time_limit: Some(Duration::from_secs(120)),
        explain_time: Some(Duration::from_secs(3)),
        run_timeout: Some(Duration::from_millis(500)),
        step_limit: Some(7),
        seed: Some(8),
        memory_model: Some(MemoryModel::Sc),
        max_stall: Some(Duration::from_millis(20)),
        keep_going: Some(true),
        ignore_exit_code: Some(true),
        fresh_directory: Some(true),
        lock_order: Some(false),
        client: Some("ask 'all at once'".to_owned()),
        ready: Some("80".to_owned()),
        assume: Some(vec!["libtbb.so".to_owned(), "file".to_owned()]),
        ..Settings::default()
    };
    assert_eq!(config.settings, expected);
    let [first, second] = &config.targets[..] else { panic!("{:?}", config.targets) };
    assert_eq!((first.line, &first.name), (28, &None));
    assert_eq!(first.program, Path::new("/w/build/app"));
    assert_eq!((&first.settings.assume, &second.settings.assume), (&Some(Vec::new()), &None));
    assert_eq!(first.arguments, Some(vec!["-v".to_owned(), "x y".to_owned()]));
    assert_eq!(first.directory.as_deref(), Some(Path::new("/w/data")));
    assert_eq!(first.stdin.as_deref(), Some(Path::new("/w/data/in")));
    assert_eq!(first.variables, [("A".to_owned(), "1".to_owned()), ("B".to_owned(), String::new())]);
    assert_eq!((first.settings.strategy, first.creates_threads), (Some(Strategy::Random), Some(true)));
    assert_eq!((second.name.as_deref(), second.build.as_deref()), (Some("other"), Some("make app")));
    assert_eq!(second.variables, [("C".to_owned(), "2".to_owned())]);
    assert_eq!(config.of_program(Path::new("/w/build/app")), Some(first));
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    for (text, line, column, sentence) in [
        ("max-preemptions = \"2\"\n", 1, 19, "`max-preemptions` must be a whole number, not below 0"),
        ("a = 1\nmax-preemptions = -1\n", 2, 19, "`max-preemptions` must be a whole number"),
        ("max-preemptions = 5000000000\n", 1, 19, "`max-preemptions` must be at most 4294967295"),
        ("max-schedules = 0\n", 1, 17, "`max-schedules` must be at least 1"),
        ("time-limit = 60\n", 1, 14, "`time-limit` must be a duration such as \"500ms\""),
        ("time-limit = \"soon\"\n", 1, 14, "`time-limit` must be a duration"),
        ("time-limit = \"0s\"\n", 1, 14, "`time-limit` must be longer than 0"),
        ("strategy = \"fast\"\n", 1, 12, "one of \"icb\", \"idb\", \"dfs\""),
        ("keep-going = 1\n", 1, 14, "`keep-going` must be true or false"),
        ("build = \"\"\n", 1, 9, "`build` must be a text in quotes"),
        ("search = [1]\n", 1, 10, "`search` must be a list of paths"),
        ("target = 1\n", 1, 10, "`target` must be written as [[target]]"),
        ("[target]\nprogram = \"x\"\n", 1, 1, "`target` must be written as [[target]]"),
        ("[[target]]\nargs = []\n", 1, 1, "names no `program`"),
        ("[[target]]\nprogram = \"x\"\nenv = { A = 1 }\n", 3, 7, "`env` must be a table of texts"),
        ("[[target]]\nprogram = \"x\"\n[[target]]\nprogram = \"x\"\n", 3, 1, "a `name` of its own"),
        (
            "max_preemptions = 2\n",
            1,
            1,
            "`max_preemptions` is not known here: did you mean `max-preemptions`?",
        ),
        ("races = false\n", 1, 1, "`races` is not known here"),
        ("args = []\n", 1, 1, "`args` is not known here: it stands in a [[target]]"),
        ("[[target]]\nprogram = \"x\"\nsearch = []\n", 3, 1, "it stands at the top of the file"),
        ("äö = 1\n", 1, 1, "no TOML"),
        ("x = \"ä\", y\n", 1, 8, "no TOML"),
        ("build = \"make\nseed = 1\n", 1, 14, "no TOML"),
    ] {
        let found = problems(text);
        let is_there = |(l, c, s): &(u32, u32, String)| (*l, *c) == (line, column) && s.contains(sentence);
        assert!(found.iter().any(is_there), "{text}: {found:?}");
        assert!(found.iter().all(|(_, _, sentence)| !sentence.contains('\n')), "{found:?}");
    }
}

#[test]
fn what_is_right_counts_beside_what_is_wrong() {
    let (config, problems) =
        Config::parse("seed = x\nmax-delays = 3\nbuild = 1\n[[target]]\nprogram = \"a\"\n", Path::new("/"));
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!((config.settings.max_delays, config.targets.len()), (Some(3), 1));
    assert!(problems.iter().all(|problem| problem.severity == Severity::Error));
}

#[test]
fn no_file_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Config::read(folder.path()), (Config::default(), Vec::new()));
    fs::create_dir(folder.path().join(FILE)).unwrap();
    let (config, problems) = Config::read(folder.path());
    assert_eq!((config, problems.len()), (Config::default(), 1));
    assert!(problems[0].to_string().contains("cannot be read"), "{}", problems[0]);
}

/// The values that the schema calls defaults are those of a request.
#[test]
fn defaults_are_what_they_are_said_to_be() {
    let said: String = schema()
        .iter()
        .filter(|key| key.section == Section::Both && !key.default.is_empty())
        .map(|key| format!("{} = {}\n", key.name, key.default))
        .collect();
    let (config, problems) = Config::parse(&said, Path::new("/"));
    assert_eq!(problems, []);
    let mut request = Request::new("x".into());
    config.settings.apply(&mut request);
    assert_eq!(request, Request::new("x".into()));
}

/// Compares the tables of a page of `docs`, each a heading's first, or writes them where `INTERLEAVER_UPDATE_DOCS` is set.
fn has_tables(page: &str, tables: &[(&str, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    let mut text = fs::read_to_string(&path).unwrap();
    for (heading, rows) in tables {
        let section =
            text.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("{page} lacks {heading}"));
        let first = section + text[section..].find("\n| --- |").unwrap() + 1;
        let first = first + text[first..].find('\n').unwrap() + 1;
        let end = text[first..].find("\n\n").map_or(text.len(), |end| first + end + 1);
        if std::env::var_os("INTERLEAVER_UPDATE_DOCS").is_some() {
            text.replace_range(first..end, rows);
            fs::write(&path, &text).unwrap();
        } else {
            assert_eq!(&text[first..end], rows, "docs/{page}: INTERLEAVER_UPDATE_DOCS=1 writes it");
        }
    }
}

#[test]
fn every_key_and_every_option_is_documented() {
    let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
    let row = |key: &Key| {
        format!("| `{}` | {} | {} | {} |\n", key.name, key.kind.short(), code(&key.default), key.doc)
    };
    let keys = |section| schema().iter().filter(|key| key.section == section).map(row).collect::<String>();
    let sections = [
        ("## For the whole workspace", keys(Section::Top)),
        ("## For the whole workspace, or for one target", keys(Section::Both)),
        ("## For one target", keys(Section::Target)),
    ];
    has_tables("configuration.md", &sections);
    let option = |setting: &Setting| {
        let value = setting.kind.value_name().map(|name| format!(" {name}")).unwrap_or_default();
        let in_file = if setting.section == Section::CommandLine { "" } else { setting.name };
        let default = match setting.default() {
            Value::Flag(_) => String::new(),
            value => code(&value.to_string()),
        };
        format!(
            "| `--{}{value}` | {} | {default} | {} |\n",
            setting.option(),
            code(in_file),
            setting.option_doc()
        )
    };
    let options = SETTINGS.iter().map(option).collect::<String>();
    has_tables("options.md", &[("## Settings", options)]);
}

#[test]
fn a_suppression_says_why_and_of_what() {
    let text = r#"
        [[suppress]]
        reason = "statistics may be a little off"
        variable = "stats"
        functions = ["count", "print"]
        files = ["stats.c"]
        [[suppress]]
        variable = "x"
        [[suppress]]
        reason = "all of them"
        [[suppress]]
        reason = "three"
        functions = ["a", "b", "c"]
    "#;
    let (config, problems) = Config::parse(text, Path::new("/"));
    let [suppression] = &config.suppressions[..] else { panic!("{:?}", config.suppressions) };
    assert_eq!((suppression.line, suppression.functions.len()), (2, 2));
    let sentences: Vec<&str> = problems.iter().map(|problem| problem.sentence.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "this [[suppress]] gives no `reason`: say why the warning may stay",
            "this [[suppress]] names no `variable`, `functions` or `files`, and would match every warning",
            "`functions` must be a list of one or two texts",
        ]
    );
}

/// Whether a suppression is about a race of this variable.
fn suppresses(text: &str, variable: &str) -> bool {
    suppresses_object(text, &ObjectDescription::Named(variable.to_owned()))
}

fn suppresses_object(text: &str, object: &ObjectDescription) -> bool {
    let access = |function: &str, file: &str| {
        let place = Location { file: Some(file.into()), line: Some(7), function: Some(function.into()) };
        RacingAccess { thread: "T1".into(), operation: OpKind::Read, stack: vec![place.clone()], place }
    };
    let race = Race {
        kind: RaceKind::Race,
        message: String::new(),
        variable: objects::words(object),
        also_called: objects::other_words(object),
        certain: true,
        harmful: false,
        harm: None,
        accesses: [access("count", "src/stats.c"), access("print", "src/main.c")],
    };
    let text = format!("[[suppress]]\nreason = \"known\"\n{text}");
    let (config, problems) = Config::parse(&text, Path::new("/"));
    assert_eq!(problems, []);
    config.suppressions[0].matches(&race)
}

#[test]
fn a_suppression_matches_by_what_the_accesses_are() {
    let matches = |text: &str| suppresses(text, "stats.hits");
    for text in [
        "variable = 'stats'",
        "variable = 'stats.hits'",
        "functions = ['print']",
        "functions = ['print', 'count']",
        "files = ['stats.c']",
        "files = ['src/main.c', 'stats.c']",
        "variable = 'stats'\nfunctions = ['count']\nfiles = ['main.c']",
    ] {
        assert!(matches(text), "{text}");
    }
    for text in [
        "variable = 'stat'",
        "variable = 'stats.misses'",
        "functions = ['count', 'count']",
        "functions = ['prin']",
        "files = ['ats.c']",
        "variable = 'stats'\nfunctions = ['other']",
    ] {
        assert!(!matches(text), "{text}");
    }
}

/// Part of the first block that a function has allocated in the main thread.
fn block(part: BlockPart, line: Option<u32>, place: Option<usize>) -> ObjectDescription {
    let (allocated_by, origin) = (ThreadName::MAIN, BlockOrigin::Function("main".to_owned()));
    ObjectDescription::Block(BlockDescription { allocated_by, count: 1, origin, line, place, part })
}

/// The words for a block tell the line of its allocation, or do not, depending on the other blocks.
#[test]
fn a_suppression_of_a_block_matches_whatever_tells_the_block_from_others() {
    let places = [(None, None), (Some(9), None), (Some(9), Some(2))];
    for (line, place) in places {
        let object = block(BlockPart::Offset(8), line, place);
        assert!(suppresses_object("variable = 'block 1 from main (+0x8)'", &object), "{object:?}");
        assert!(!suppresses_object("variable = 'block 1 from main (+0x0)'", &object), "{object:?}");
        for is_only in [false, true] {
            let name = "Mailbox.letter.data".to_owned();
            let object = block(BlockPart::Member { name, is_only }, line, place);
            for known in ["Mailbox.letter", "Mailbox.letter.data (block 1 from main)"] {
                assert!(suppresses_object(&format!("variable = '{known}'"), &object), "{known}: {object:?}");
            }
            for text in [
                "variable = 'Mailbox.letter.data (block 1 from other)'",
                "variable = 'Mailbox'\nfiles = ['other.c']",
            ] {
                assert!(!suppresses_object(text, &object), "{text}: {object:?}");
            }
        }
    }
    let other = "variable = 'block 1 from main, line 8 (+0x8)'";
    assert!(!suppresses_object(other, &block(BlockPart::Offset(8), Some(9), None)));
}

#[test]
fn a_file_of_many_tables_is_read_at_once() {
    for (name, table) in [
        ("target", "[[target]]\n"),
        ("target", "[[target]]\nprogram=\"a\"\n"),
        ("suppress", "[[suppress]]\n"),
        ("suppress", "[[suppress]]\nx=1\n"),
    ] {
        let (config, problems) = Config::parse(&table.repeat(200_000), Path::new("/w"));
        assert!(config.targets.len() <= 1 && config.suppressions.is_empty());
        assert_eq!(problems.len(), 101, "{name}");
        assert!(problems[100].sentence.starts_with("only the first 100 problems are told, of "));
    }
    let different: String = (0..100_000).map(|n| format!("[[target]]\nprogram = \"{n}\"\n")).collect();
    let (config, problems) = Config::parse(&different, Path::new("/w"));
    assert_eq!(config.targets.len(), 1000);
    assert_eq!(
        problems.iter().map(|problem| (problem.line, problem.sentence.as_str())).collect::<Vec<_>>(),
        [(2001, "from here, no [[target]] counts: 1000 stand before it")]
    );
}
