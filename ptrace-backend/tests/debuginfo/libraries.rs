//! The C and C++ libraries that every program brings along.

use ptrace_backend::debuginfo::{Image, SymbolKind};

use crate::debuginfo::snapshots::loaded;

#[test]
fn of_several_versions_the_default_one_is_found() {
    let libc = Image::open(&loaded("libc.so.6")).unwrap();
    for name in ["pthread_cond_wait", "pthread_create", "sem_init"] {
        let versions: Vec<_> =
            libc.symbols_where(|known| known == name).into_iter().filter(|s| s.version.is_some()).collect();
        assert!(versions.len() > 1, "{name}: {versions:?}");
        let default: Vec<_> = versions.iter().filter(|symbol| symbol.is_default).collect();
        assert_eq!(default.len(), 1, "{name}: {versions:?}");
        assert_eq!(libc.symbol(name), Some(default[0].address), "{name}");
    }
    let old = libc.symbols_where(|name| name == "pthread_cond_wait");
    assert!(old.iter().any(|symbol| symbol.version == Some("GLIBC_2.2.5") && !symbol.is_default));
}

#[test]
fn functions_chosen_at_load_time_are_marked() {
    let libc = Image::open(&loaded("libc.so.6")).unwrap();
    let kind =
        |name| libc.symbols_where(|known| known == name).iter().map(|symbol| symbol.kind).collect::<Vec<_>>();
    assert!(kind("memcpy").contains(&SymbolKind::Chooser));
    assert!(kind("pthread_mutex_lock").iter().all(|kind| *kind == SymbolKind::Function));
}

#[test]
fn functions_do_not_overlap() {
    let libc = Image::open(&loaded("libc.so.6")).unwrap();
    let functions: Vec<_> = libc.functions().map(|function| function.range).collect();
    assert!(functions.len() > 1000);
    assert!(functions.is_sorted_by(|a, b| a.end <= b.start && a.start < b.start));
    assert_eq!(
        libc.function_at(libc.symbol("pthread_mutex_lock").unwrap() + 4).unwrap().range.start,
        libc.symbol("pthread_mutex_lock").unwrap()
    );
}
