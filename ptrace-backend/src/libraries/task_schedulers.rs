//! Task schedulers: system libraries of C++ whose threads run functions of the program (oneTBB, and behind it `std::execution::par`).
//!
//! Half of such a library is in the program: its headers are templates, and what these instantiate shares atomic variables with
//! the library's own code, which hands tasks to threads by them. Only where both are watched does it show which thread may
//! run which task at which time. So they count as the program's own.

use crate::layout::module::Module;

/// The most code that a library may have for this, in bytes: its instructions are all looked at when a program is launched.
const MOST_CODE: u64 = 1 << 20;

/// The beginning of symbols of C++, and that of those of its standard library.
const IN_NAMESPACE: &str = "_ZN";
const STANDARD: [&str; 2] = ["_ZNSt", "_ZN9__gnu_cxx"];

/// The beginnings of names of functions that create threads: the system's, and that of `std::thread`.
const CREATORS: [&str; 2] = ["pthread_create", "_ZNSt6thread15_M_start_thread"];

/// The places of task schedulers among these modules, and of libraries that go with them (`libtbbmalloc` with `libtbb`).
pub(crate) fn among(modules: &[Module]) -> Vec<usize> {
    let own = || modules.iter().filter(|module| !module.is_system);
    let called: Vec<&str> =
        own().flat_map(|module| module.image.imported_names()).filter(|name| is_of_library(name)).collect();
    if called.is_empty() {
        return Vec::new();
    }
    let is_scheduler = |module: &&Module| {
        module.is_hidden()
            && len_of_code(module) <= MOST_CODE
            && module
                .image
                .imported_names()
                .iter()
                .any(|name| CREATORS.iter().any(|creator| name.starts_with(creator)))
            && called.iter().any(|name| module.image.symbol(name).is_some())
    };
    let stems: Vec<String> = modules.iter().filter(is_scheduler).map(stem).collect();
    let is_part = |module: &Module| {
        module.is_hidden()
            && len_of_code(module) <= MOST_CODE
            && stems.iter().any(|stem| self::stem(module).starts_with(stem))
    };
    (0..modules.len()).filter(|&i| is_part(&modules[i])).collect()
}

fn is_of_library(name: &str) -> bool {
    name.starts_with(IN_NAMESPACE) && !STANDARD.iter().any(|standard| name.starts_with(standard))
}

fn len_of_code(module: &Module) -> u64 {
    module.image.text().iter().map(|section| section.range()).map(|range| range.end - range.start).sum()
}

/// The name of a library's file without what follows `.so`.
fn stem(module: &Module) -> String {
    let name = module.mapped.path.file_name().unwrap_or_default().to_string_lossy();
    name.split_once(".so").map_or(&*name, |(stem, _)| stem).to_owned()
}
