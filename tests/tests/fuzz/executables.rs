//! Executables: their headers, symbols, line tables, debug information, and what of it is compressed.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use explorer::config::Config;
use explorer::discover::Workspace;
use proptest::prelude::*;
use tests::elf::Sections;
use tests::foreign::executable;
use tests::{Build, Optimisation};

use super::change::{changed, changes};
use super::runs::run;

#[test]
fn executables() {
    let build = |flag| Build::new("c/lost_update.c", Optimisation::O0).flag(flag).program().unwrap();
    let programs = ["-gdwarf-5", "-gdwarf-4", "-gz=zlib"].map(|flag| fs::read(build(flag)).unwrap());
    let sections = programs.each_ref().map(|program| Sections::of(program).parts());
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("program");
    run(
        "executables",
        100,
        &(0..programs.len(), any::<prop::sample::Index>(), changes()),
        |(which, part, changes)| {
            let part = part.get(&sections[which]).clone();
            fs::write(&place, changed(&programs[which], part, &changes)).unwrap();
            fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
            let _ = Workspace::scan(folder.path(), &Config::default()).listing().render();
            executable(&place);
        },
    );
}
