//! Tests of a folder: its operations and its refusals.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;

/// A folder `store`, and beside it what must stay as it is.
struct Beside(tempfile::TempDir);

impl Beside {
    fn new() -> Self {
        let top = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(top.path().join("store")).expect("a store");
        fs::create_dir_all(top.path().join("mine/deep")).expect("a folder");
        fs::write(top.path().join("mine/file"), "mine").expect("a file");
        Self(top)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn store(&self) -> Folder {
        Folder::open(&self.path("store")).expect("the store")
    }

    fn is_untouched(&self) -> bool {
        let names: Vec<_> = fs::read_dir(self.path("mine")).expect("a folder").flatten().collect();
        names.len() == 2 && fs::read_to_string(self.path("mine/file")).is_ok_and(|text| text == "mine")
    }
}

#[test]
fn a_file_appears_whole_with_the_folders_that_it_needs() {
    let beside = Beside::new();
    let store = beside.store();
    store.write_with("a/b", 0o666, |to| to.write_all(b"text")).expect("written");
    assert_eq!(store.read("a/b", Kind::Text).expect("read"), b"text");
    let failed = store.write_with("a/b", 0o666, |to| {
        to.write_all(b"half")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert!(failed.is_err());
    assert_eq!(store.read("a/b", Kind::Text).expect("read"), b"text");
    assert_eq!(store.inner("a").expect("a folder").names().expect("names"), ["b"]);
}

#[test]
fn names_that_lead_out_are_refused() {
    let beside = Beside::new();
    let store = beside.store();
    let absolute = beside.path("mine/file").to_string_lossy().into_owned();
    for name in [absolute.as_str(), "../mine/file", "a/../../mine/file", "..", "", "/"] {
        assert!(store.remove(name).is_err(), "{name}");
        assert!(store.write_with(name, 0o666, |to| to.write_all(b"x")).is_err(), "{name}");
        assert!(store.read(name, Kind::Text).is_err(), "{name}");
        assert!(store.lock(name).is_err(), "{name}");
        assert!(!is_inside(Path::new(name)), "{name}");
    }
    assert!(beside.is_untouched());
}

#[test]
fn links_are_not_followed() {
    let beside = Beside::new();
    let store = beside.store();
    symlink(beside.path("mine"), beside.path("store/folder")).expect("a link");
    symlink(beside.path("mine/file"), beside.path("store/file")).expect("a link");
    symlink(beside.path("mine/new"), beside.path("store/dangling")).expect("a link");
    for name in ["folder/file", "folder/new", "folder/deep/x"] {
        assert!(store.remove(name).is_err(), "{name}");
        assert!(store.write_with(name, 0o666, |to| to.write_all(b"x")).is_err(), "{name}");
        assert!(store.read(name, Kind::Text).is_err(), "{name}");
        assert!(store.lock(name).is_err(), "{name}");
    }
    for name in ["file", "dangling"] {
        let error = store.lock(name).expect_err("a link").to_string();
        assert_eq!(error, format!("`{name}` is a symbolic link"));
        assert!(store.read(name, Kind::Text).is_err(), "{name}");
        // The link is replaced, and not what it leads to.
        store.write_with(name, 0o666, |to| to.write_all(b"x")).expect("written");
    }
    assert!(store.inner("folder").is_err() && store.make_inner("folder").is_err());
    store.remove_folder("folder").expect("the link is gone");
    assert!(beside.is_untouched());
}

#[test]
fn a_folder_goes_with_its_files_and_links_without_what_they_lead_to() {
    let beside = Beside::new();
    let store = beside.store();
    store.write_with("programs/a/b", 0o666, |to| to.write_all(b"x")).expect("written");
    symlink(beside.path("mine"), beside.path("store/programs/a/link")).expect("a link");
    store.remove_folder("programs").expect("removed");
    assert!(store.names().expect("names").is_empty() && beside.is_untouched());
    store.remove_folder("programs").expect("nothing is as good");
}

#[test]
fn a_pipe_is_no_lock() {
    let beside = Beside::new();
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::mknodat(CWD, beside.path("store/.lock"), FileType::Fifo, mode, 0).expect("a pipe");
    let error = beside.store().lock(".lock").expect_err("a pipe").to_string();
    assert_eq!(error, "`.lock` is not a regular file");
}
