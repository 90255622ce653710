//! Executables whose debug information claims more than there is.

use std::fs;
use std::os::unix::fs::PermissionsExt;

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
