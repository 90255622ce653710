//! Functions found by name wherever the compiler put them: out of line, or inlined into others.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::die::{Names, ranges, visit};
use super::sections::Dwarf;

/// One copy of a function in the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The function, as a person wrote its name.
    pub name: Arc<str>,
    /// Its instructions: several ranges where the compiler moved parts of it apart.
    pub ranges: SmallVec<[Range<u64>; 1]>,
    /// Whether it was inlined into another function.
    pub is_inlined: bool,
}

/// The copies of the wanted functions that DWARF knows; see [`Names::with_words`] for `words`.
pub(crate) fn instances(
    dwarf: &Dwarf,
    is_code: &dyn Fn(u64) -> bool,
    words: &[&str],
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<Instance> {
    let mut found = Vec::new();
    let mut names = Names::with_words(dwarf, words);
    for unit in dwarf.units() {
        visit(unit, &[gimli::DW_TAG_inlined_subroutine, gimli::DW_TAG_subprogram], &mut |die| {
            let has_code =
                die.value(gimli::DW_AT_low_pc).is_some() || die.value(gimli::DW_AT_ranges).is_some();
            if !has_code {
                return;
            }
            let Some(name) = names.of(die).filter(|name| wanted(name)) else { return };
            let mut ranges = ranges(dwarf, die);
            ranges.retain(|range| is_code(range.start));
            if !ranges.is_empty() {
                found.push(Instance {
                    name,
                    ranges,
                    is_inlined: die.tag == gimli::DW_TAG_inlined_subroutine,
                });
            }
        });
    }
    found
}
