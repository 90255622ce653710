//! `interleaver.toml` with real programs: what it changes of targets, and what the command line takes from it.

use std::fs;

use explorer::config::Config;
use explorer::discover::Workspace;
use tests::{Project, Tool};

#[test]
fn the_configuration_changes_and_adds_targets() {
    let project = Project::copy("make-c").unwrap();
    project.run("make && mkdir -p data && touch data/in").unwrap();
    let text = "max-preemptions = 3\nkeep-going = true\n\n[[target]]\nprogram = \"build/bank\"\nargs = [\"--fast\"]\ncwd = \
                \"data\"\nstdin = \"data/in\"\nenv = { LIMIT = \"8\" }\nmax-preemptions = 1\nbuild = \"make build/bank\"\n\n\
                [[target]]\nname = \"slow bank\"\nprogram = \"build/bank\"\nargs = [\"--slow\"]\n";
    fs::write(project.path("interleaver.toml"), text).unwrap();
    let (config, problems) = Config::read(project.root());
    assert!(problems.is_empty(), "{problems:?}");
    let workspace = Workspace::scan(project.root(), &config);
    let bank = workspace.target("build/bank").unwrap();
    let request = bank.request(&explorer::config::Settings::default());
    assert_eq!(request.arguments, ["--fast"]);
    assert_eq!(request.directory, Some(project.path("data")));
    assert_eq!(request.stdin, Some(project.path("data/in")));
    assert_eq!(request.variables, [("LIMIT".into(), "8".into())]);
    assert_eq!((request.max_preemptions, request.keep_going), (1, true));
    assert_eq!(workspace.build_step(&bank).unwrap().command, "make build/bank");

    let slow = workspace.target("toml:slow bank").unwrap();
    assert_eq!((slow.label.as_str(), &slow.arguments[..]), ("slow bank", &["--slow".into()][..]));
    assert_eq!(slow.request(&explorer::config::Settings::default()).max_preemptions, 3);
    let names: Vec<String> = workspace
        .targets_of_file(&project.path("src/main.c"), None)
        .into_iter()
        .map(|target| target.name)
        .collect();
    assert_eq!(names, ["main", "main (slow bank)"]);
}

/// The options of an exploration may stand in the file; an option on the command line wins, and the program to run
/// stands there.
#[test]
fn the_command_line_takes_how_to_explore_from_the_configuration() {
    let project = Project::copy("make-c").unwrap();
    project.run("make").unwrap();
    let text = "strategy = \"icb\"\nmax-preemptions = 0\ncolour = 1\n[[target]]\nprogram = \"build/crowd\"\nmax-schedules = 3\n\
                args = [\"x\"]\n";
    fs::write(project.path("interleaver.toml"), text).unwrap();
    let bank = project.path("build/bank");
    let within = Tool::explore([] as [&str; 0], &bank).run().unwrap();
    assert_eq!(
        (within.code, &within.report["covered"]["preemptions"]),
        (0, &0.into()),
        "{}",
        within.transcript()
    );
    assert!(
        within.stderr.contains("line 3, column 1: `colour` is not known here"),
        "{}",
        within.transcript()
    );
    let beyond = Tool::explore(["--max-preemptions", "1"], &bank).run().unwrap();
    assert_eq!(beyond.code, 1, "{}", beyond.transcript());
    // Redundant executions count.
    let crowd = Tool::explore([] as [&str; 0], &project.path("build/crowd")).run().unwrap();
    assert_eq!(crowd.code, 2, "{}", crowd.transcript());
    let ended = crowd.report["ended"].as_str().unwrap();
    assert!(ended.contains("3 schedules"), "{}", crowd.transcript());
}
