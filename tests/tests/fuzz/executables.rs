//! Executables: their headers, symbols, line tables, debug information, and what of it is compressed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use explorer::config::Config;
use explorer::discover::Workspace;
use proptest::prelude::*;
use ptrace_backend::debuginfo::{Image, user_code};
use tests::elf::Sections;
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
        150,
        &(0..programs.len(), any::<prop::sample::Index>(), changes()),
        |(which, part, changes)| {
            let part = part.get(&sections[which]).clone();
            fs::write(&place, changed(&programs[which], part, &changes)).unwrap();
            fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
            let _ = Workspace::scan(folder.path(), &Config::default()).listing().render();
            look_into(&place);
        },
    );
}

/// Asks a program for all that a search and a debugger need to know of it.
fn look_into(program: &Path) {
    let Ok(image) = Image::open(program) else { return };
    let _ = user_code(&image, &|_| true);
    let _ = image.statements(&|_| true);
    let _ = image.inlined(&["handle_request"], &|name| name == "handle_request");
    let _ = image.import_slots().count();
    for function in image.functions().take(50) {
        let _ = (image.frames(function.range.start), image.function_parts(function.range.start));
        let _ = image.plt_target(function.range.start);
    }
    for symbol in image.symbols().take(100) {
        let _ = (image.data_at(symbol.address), image.is_atomic_data(symbol.address));
    }
}
