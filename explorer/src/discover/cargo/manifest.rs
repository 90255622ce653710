//! `Cargo.toml`, as far as cargo tells programs of it.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// A package's `Cargo.toml`.
#[derive(Clone, Debug)]
pub(in crate::discover) struct Manifest {
    /// Absolute.
    pub(in crate::discover) path: PathBuf,
    pub(in crate::discover) package: String,
    table: Table,
    /// `[workspace.package]` of the workspace that the package is in.
    inherited: Table,
}

impl Manifest {
    /// Reads a manifest; `None` if it is that of no package.
    pub(in crate::discover) fn read(path: &Path) -> Option<Self> {
        let table = read(path)?.remove("package")?.as_table()?.clone();
        let package = table.get("name")?.as_str()?.to_owned();
        let above = path.parent()?.ancestors().map(|folder| folder.join("Cargo.toml"));
        let workspaces = above.filter_map(|path| match read(&path)?.remove("workspace")? {
            Value::Table(workspace) => Some(workspace),
            _ => None,
        });
        let inherited = workspaces.take(1).filter_map(|mut workspace| workspace.remove("package")).next();
        let inherited = inherited.and_then(|package| package.as_table().cloned()).unwrap_or_default();
        Some(Self { path: path.to_owned(), package, table, inherited })
    }

    pub(in crate::discover) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// A member of `[package]`, that of the workspace where it says `workspace = true`; lists are joined by `:`.
    pub(super) fn member(&self, name: &str) -> String {
        let own = self.table.get(name);
        let is_inherited = own.and_then(Value::as_table).is_some_and(|table| table.contains_key("workspace"));
        let value = if is_inherited { self.inherited.get(name) } else { own };
        match value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(":"),
            _ => String::new(),
        }
    }
}

fn read(path: &Path) -> Option<Table> {
    files::read_text(path, files::Kind::Settings).ok()?.parse().ok()
}
