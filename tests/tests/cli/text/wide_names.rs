//! Names of which each character takes two columns leave the columns of a table where they are.

use std::path::Path;

use tests::{Build, Tool, levels};
use unicode_width::UnicodeWidthStr;

/// The columns of a terminal in which a line has bars.
fn bars(line: &str) -> Vec<usize> {
    line.match_indices(['│', '┼']).map(|(at, _)| line[..at].width()).collect()
}

#[test]
fn columns_stand_below_one_another() {
    for level in levels("wide_names") {
        let program = Build::new("names/wide_names.c", level).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = [Path::new("explore"), Path::new("--output"), folder.path(), Path::new("--"), &program];
        let shown = Tool::new(options).run().unwrap().stdout;
        let table: Vec<&str> = shown.lines().filter(|line| !bars(line).is_empty()).collect();
        assert!(table.iter().any(|line| line.contains("read `在庫の数量`")), "{level:?}: {shown}");
        assert!(table.len() > 5 && bars(table[0]).len() == 4, "{level:?}: {shown}");
        assert!(table.iter().all(|line| bars(line) == bars(table[0])), "{level:?}: {shown}");
    }
}
