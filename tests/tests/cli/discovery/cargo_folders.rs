//! Programs of cargo that lie outside of their workspace, found without executing anything.

use std::fs;

use tests::Tool;

/// Wherever cargo is told to build, and whatever other projects have built there.
#[test]
fn programs_of_cargo_outside_of_target_are_found() {
    let manifest = |name: &str| format!("[package]\nname = \"{name}\"\nedition = \"2021\"\n[workspace]\n");
    let source = "#[test]\nfn runs() {\n    std::thread::spawn(|| ()).join().unwrap();\n}\n";
    let above = "[build]\ntarget-dir = \"built\"\n";
    let (own, other) = (manifest("own"), manifest("other"));
    let parts = "{workspace-root}/../parts/{workspace-path-hash}";
    for (config, variable, build_dir) in [
        (Some(".cargo/config.toml"), None, None),
        (Some("own/.cargo/config.toml"), None, None),
        (None, Some("CARGO_TARGET_DIR"), None),
        (None, Some("CARGO_BUILD_TARGET_DIR"), None),
        (None, None, Some("../parts")),
        (None, None, Some(parts)),
        (None, Some("CARGO_BUILD_BUILD_DIR"), None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let write = |file: &str, text: &str| {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (package, manifest) in [("own", &own), ("other", &other)] {
            write(&format!("{package}/Cargo.toml"), manifest);
            write(&format!("{package}/src/lib.rs"), source);
        }
        let built = root.join("elsewhere");
        if let Some(folder) = build_dir {
            // Test binaries go there, and programs to `target`.
            for package in ["own", "other"] {
                write(
                    &format!("{package}/.cargo/config.toml"),
                    &format!("[build]\nbuild-dir = \"{folder}\"\n"),
                );
            }
        }
        if let Some(config) = config {
            // The configuration of a folder above counts where none is nearer.
            write(".cargo/config.toml", above);
            let nearest = format!("[build]\ntarget-dir = \"{}\"\n", built.display());
            write(config, if config.starts_with("own") { &nearest } else { above });
        }
        for package in ["other", "own"] {
            let mut cargo = std::process::Command::new("cargo");
            let cargos = std::env::vars_os().map(|(name, _)| name);
            for name in cargos.filter(|name| name.to_string_lossy().starts_with("CARGO_")) {
                cargo.env_remove(name);
            }
            cargo.envs(variable.map(|name| (name, &built)));
            let words = ["test", "--offline", "--quiet", "--no-run"];
            let output = cargo.args(words).current_dir(root.join(package)).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let mut words = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"]
            .map(|name| format!("-u{name}"))
            .to_vec();
        words.extend(variable.map(|name| format!("{name}={}", built.display())));
        let list = Tool::new(["list".as_ref(), root.join("own").as_os_str()]);
        let listed = list.under("/usr/bin/env".into(), words).run().unwrap();
        let targets: Vec<&str> =
            listed.stdout.lines().filter_map(|line| line.trim().split("  ").next()).collect();
        let targets: Vec<&str> = targets.into_iter().filter(|word| word.starts_with("cargo:")).collect();
        assert_eq!(
            targets,
            ["cargo:own:lib:own#runs"],
            "{config:?} {variable:?} {build_dir:?}: {}",
            listed.transcript()
        );
        assert!(!listed.says("cargo:other"), "{}", listed.transcript());
    }
}
