//! Declarations of functions: `main` and tests are found by them without looking at an instruction.

use std::path::PathBuf;

use gimli::{AttributeValue, DwAt, constants};

use super::dwarf::die::{DieView, visit};
use super::dwarf::lines;
use super::dwarf::reader::Unit;
use super::dwarf::sections::Dwarf;
use super::dwarf::source_unit::SourceUnit;
use super::image::Image;

/// A function that the debug information of a program tells of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declaration {
    /// Its own name.
    pub name: String,
    /// With the namespaces, modules and classes that it is in; anonymous ones are left out.
    pub path: String,
    /// The file that declares it.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// Whether it stands in nothing.
    pub is_outermost: bool,
}

impl Image {
    /// The functions whose own name is wanted, of the compilation units that are wanted. One that several units declare
    /// comes several times, and so does each instance of a template.
    pub fn declarations(
        &self,
        unit_is_wanted: &dyn Fn(&SourceUnit) -> bool,
        name_is_wanted: &dyn Fn(&str) -> bool,
    ) -> Vec<Declaration> {
        let Some(dwarf) = self.dwarf() else { return Vec::new() };
        let units = dwarf.units().iter().filter(|unit| unit_is_wanted(&SourceUnit::new(dwarf, unit)));
        units.flat_map(|unit| in_unit(dwarf, unit, name_is_wanted)).collect()
    }
}

fn in_unit(dwarf: &Dwarf, unit: &Unit, name_is_wanted: &dyn Fn(&str) -> bool) -> Vec<Declaration> {
    const SCOPES: [gimli::DwTag; 4] = [
        constants::DW_TAG_namespace,
        constants::DW_TAG_class_type,
        constants::DW_TAG_structure_type,
        constants::DW_TAG_union_type,
    ];
    let tags = [&SCOPES[..], &[constants::DW_TAG_subprogram]].concat();
    // The names that the entry is in, with their depths.
    let mut scopes: Vec<(isize, &str)> = Vec::new();
    let mut found = Vec::new();
    visit(unit, &tags, &mut |die| {
        while scopes.pop_if(|(depth, _)| *depth >= die.depth).is_some() {}
        let name = text(dwarf, unit, die, constants::DW_AT_name).unwrap_or_default();
        if SCOPES.contains(&die.tag) {
            scopes.push((die.depth, name));
        } else if name_is_wanted(name) {
            found.extend(declaration(dwarf, unit, die, name, &scopes));
        }
    });
    found
}

fn text<'a>(dwarf: &'a Dwarf, unit: &'a Unit, die: &DieView<'_>, name: DwAt) -> Option<&'a str> {
    dwarf.sections().attr_string(unit, die.value(name)?).ok()?.to_string().ok()
}

fn declaration(
    dwarf: &Dwarf,
    unit: &Unit,
    die: &DieView<'_>,
    name: &str,
    scopes: &[(isize, &str)],
) -> Option<Declaration> {
    let file = match die.value(constants::DW_AT_decl_file)? {
        AttributeValue::FileIndex(index) => index,
        other => other.udata_value()?,
    };
    let line = die.value(constants::DW_AT_decl_line)?.udata_value()?;
    let header = unit.line_program.as_ref()?.header();
    let scopes = scopes.iter().map(|(_, name)| *name).filter(|name| !name.is_empty());
    Some(Declaration {
        name: name.to_owned(),
        path: scopes.chain([name]).collect::<Vec<_>>().join("::"),
        file: lines::file_path(dwarf, unit, header, file),
        line: u32::try_from(line).ok().filter(|&line| line > 0)?,
        is_outermost: die.depth == 1,
    })
}
