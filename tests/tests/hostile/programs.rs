//! Executables whose debug information claims more than there is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use explorer::config::Config;
use explorer::discover::{Limits, Workspace};
use nix::sys::resource::{UsageWho, getrusage};
use tests::elf::Sections;
use tests::{Build, Optimisation};

use crate::repository::Surroundings;

/// As much memory as no listing of small programs needs, in KiB.
const MUCH: i64 = 1 << 20;

#[test]
fn what_a_compressed_section_claims_to_be_takes_no_memory() {
    let top = Surroundings::new();
    let program = Build::new("c/lost_update.c", Optimisation::O0).flag("-gz=zlib").program().unwrap();
    let right = fs::read(program).unwrap();
    for (name, size) in [("a", 3_u64 << 30), ("b", 1 << 39), ("c", u64::MAX), ("d", 200 << 20)] {
        let mut program = right.clone();
        for section in [".debug_info", ".debug_line", ".debug_str"] {
            // Behind the kind of compression.
            let at = Sections::of(&right).named(section).unwrap().start + 8;
            program[at..at + 8].copy_from_slice(&size.to_le_bytes());
        }
        let place = top.put(&format!("repository/bombs/{name}"), program);
        fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let outcome = top.tool(["list", "bombs"]).run().unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    assert!(outcome.stdout.contains("left out"), "{}", outcome.transcript());
    let most = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    assert!(most < MUCH, "{most} KiB");
}

/// Offsets of the fields in which the headers of the loaded segments say which part of the file that is.
fn offsets_of_segments(program: &[u8]) -> Vec<usize> {
    let number = |at: usize, length: usize| {
        program[at..at + length].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
    };
    let (start, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    let loaded = |at: &usize| number(*at, 4) == 1;
    (0..count).map(|nth| start + nth * size).filter(loaded).map(|at| at + 8).collect()
}

/// The kernel finds that out when the old program is gone, and can only end the new one.
#[test]
fn what_the_kernel_cannot_load_after_all_is_one_sentence() {
    let top = Surroundings::new();
    let right = fs::read(top.path("repository/app")).unwrap();
    let offsets = offsets_of_segments(&right);
    assert!(!offsets.is_empty());
    for at in offsets {
        let mut program = right.clone();
        program[at..at + 8].copy_from_slice(&1_u64.to_le_bytes());
        let place = top.put("repository/late", program);
        fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
        let outcome = top.tool(["explore", "--time-limit", "5s", "--", "./late"]).run().unwrap();
        assert_eq!(outcome.code, 3, "{at}: {}", outcome.transcript());
        assert!(outcome.says("the kernel could not load the program"), "{at}: {}", outcome.transcript());
    }
}

/// A program whose debug information has one function in another, 400,000 deep.
fn deep_program(top: &Surroundings) -> std::path::PathBuf {
    let mut entries = vec![5, 0, 1, 8, 0, 0, 0, 0, 1];
    entries.resize(entries.len() + 400_000, 2);
    let length = u32::try_from(entries.len()).unwrap().to_le_bytes();
    // A unit and a function, both with children and no attributes.
    let kinds = [1, 0x11, 1, 0, 0, 2, 0x2e, 1, 0, 0, 0];
    let info = top.put("info", [&length[..], &entries].concat());
    let abbreviations = top.put("kinds", kinds);
    let program = top.path("repository/deep");
    let mut objcopy = Command::new("objcopy");
    for (section, file) in [(".debug_info", info), (".debug_abbrev", abbreviations)] {
        objcopy.args(["--remove-section", section, "--add-section"]);
        objcopy.arg(format!("{section}={}", file.display()));
    }
    assert!(objcopy.arg(top.path("repository/app")).arg(&program).status().unwrap().success());
    program
}

/// `attention` ends the tool where a thread is deaf for a second.
#[test]
fn entries_within_entries_are_read_in_time() {
    let top = Surroundings::new();
    deep_program(&top);
    let words = ["explore", "--no-explain", "--max-schedules", "3", "--time-limit", "5s", "--", "./deep"];
    let outcome = top.tool(words).run().unwrap();
    assert!([1, 2].contains(&outcome.code), "{}", outcome.transcript());
    let listed = top.tool(["list", "."]).run().unwrap();
    assert_eq!(listed.code, 0, "{}", listed.transcript());
}

#[test]
fn a_look_at_a_workspace_ends_in_its_time_and_walks_through_nothing_around_it() {
    let top = Surroundings::new();
    let look = |config: &Config, limits| Workspace::scan_within(&top.repository(), config, limits).listing();
    let in_no_time = Limits { reading: Duration::ZERO, ..Limits::default() };
    let listing = look(&Config::default(), in_no_time);
    assert!(listing.executables.is_empty());
    assert_eq!(listing.cut.unwrap(), "the time of 0 s was over before 3 executables were read");
    // All folders together have so many entries.
    let outside = Config { search: vec![top.path("mine")], ..Config::default() };
    let few = Limits { entries: 6, ..Limits::default() };
    assert!(look(&outside, few).cut.unwrap().starts_with("6 entries were reached at "));
    for around in ["/".into(), top.path("")] {
        let outside = Config { search: vec![around], ..Config::default() };
        let cut = look(&outside, Limits::default()).cut.unwrap();
        assert!(cut.ends_with("in `search` holds the workspace itself and all beside it"), "{cut}");
    }
}
