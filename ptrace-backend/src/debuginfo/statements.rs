//! The first instructions of each line's code: the part of the line tables that breakpoints and steps by line need.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::dwarf::lines::file_path;
use super::dwarf::reader::Unit;
use super::dwarf::sections::Dwarf;
use super::image::Image;
use crate::attention;

/// An instruction with which code of a line begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Its static address.
    pub address: u64,
    /// Index in [`Statements::files`].
    pub file: usize,
    /// The line, from 1.
    pub line: u32,
}

/// The statements of an image.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// The files that they come from, each once.
    pub files: Vec<PathBuf>,
    /// By address, at most one at each. A function's prologue is not one of them.
    pub all: Vec<Statement>,
}

impl Image {
    /// The statements that come from wanted files.
    pub fn statements(&self, wanted: &dyn Fn(&Path) -> bool) -> Statements {
        let Some(dwarf) = self.dwarf() else { return Statements::default() };
        let mut found = Collection::default();
        for unit in dwarf.units() {
            found.add(self, dwarf, unit, wanted);
        }
        found.all.sort_by_key(|group| group.address);
        found.all.dedup_by_key(|group| group.address);
        self.without_prologues(&mut found.all);
        let all = found.all.iter().filter_map(Group::statement).collect();
        Statements { files: found.files, all }
    }

    /// Lets every function begin where its arguments can be read.
    fn without_prologues(&self, groups: &mut [Group]) {
        let text = self.text();
        for function in self.functions() {
            let start = groups.partition_point(|group| group.address < function.range.start);
            let end = groups.partition_point(|group| group.address < function.range.end);
            let inside = &mut groups[start..end];
            let marked = inside.iter().position(|group| group.ends_prologue);
            let saves_frame = || {
                let section = text.iter().find(|section| section.range().contains(&function.range.start));
                let code = section.and_then(|section| {
                    section.bytes.get((function.range.start - section.address) as usize..)
                });
                code.is_some_and(begins_with_frame)
            };
            let body = match marked {
                Some(body) => body,
                None if inside.len() > 1 && inside[0].address == function.range.start && saves_frame() => 1,
                None => 0,
            };
            inside[..body].iter_mut().for_each(|group| group.begins = false);
        }
    }
}

/// Whether a function begins by saving the frame pointer: a line of its own in unoptimised code.
fn begins_with_frame(code: &[u8]) -> bool {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const PUSH_RBP_MOV_RBP_RSP: [[u8; 4]; 2] = [[0x55, 0x48, 0x89, 0xe5], [0x55, 0x48, 0x8b, 0xec]];
    let code = code.strip_prefix(&ENDBR64).unwrap_or(code);
    PUSH_RBP_MOV_RBP_RSP.iter().any(|frame| code.starts_with(frame))
}

/// The rows of a line table at one address: the last one with which a statement begins says which line that is.
#[derive(Clone, Copy)]
struct Group {
    address: u64,
    /// None if the file is not wanted.
    file: Option<usize>,
    line: u32,
    begins: bool,
    ends_prologue: bool,
}

impl Group {
    fn statement(&self) -> Option<Statement> {
        let file = self.file.filter(|_| self.begins && self.line > 0)?;
        Some(Statement { address: self.address, file, line: self.line })
    }
}

#[derive(Default)]
struct Collection {
    files: Vec<PathBuf>,
    numbers: FxHashMap<PathBuf, usize>,
    all: Vec<Group>,
}

impl Collection {
    fn add(&mut self, image: &Image, dwarf: &Dwarf, unit: &Unit, wanted: &dyn Fn(&Path) -> bool) {
        let Some(program) = unit.line_program.clone() else { return };
        let mut known: FxHashMap<u64, Option<usize>> = FxHashMap::default();
        let mut rows = program.rows();
        let mut last: Option<Group> = None;
        while let Ok(Some((header, row))) = rows.next_row() {
            attention::round();
            let address = row.address();
            if last.is_some_and(|group| group.address != address) || row.end_sequence() {
                // Code that the linker threw away is left at address 0.
                self.all.extend(last.take().filter(|group| image.is_code(group.address)));
            }
            if row.end_sequence() {
                continue;
            }
            let file = *known.entry(row.file_index()).or_insert_with(|| {
                let path = file_path(dwarf, unit, header, row.file_index());
                wanted(&path).then(|| self.number(path))
            });
            let line = row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(0));
            let before = last.unwrap_or(Group { address, file, line, begins: false, ends_prologue: false });
            let ends_prologue = row.prologue_end() || before.ends_prologue;
            let now = if row.is_stmt() { Group { file, line, begins: true, ..before } } else { before };
            last = Some(Group { ends_prologue, ..now });
        }
    }

    fn number(&mut self, path: PathBuf) -> usize {
        let files = &mut self.files;
        *self.numbers.entry(path).or_insert_with_key(|path| {
            files.push(path.clone());
            files.len() - 1
        })
    }
}
