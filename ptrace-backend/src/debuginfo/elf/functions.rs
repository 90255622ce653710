//! Functions and the addresses that belong to them, with and without a symbol table.

use std::ops::Range;

use super::file::CodeSection;
use super::symbols::{Symbol, SymbolKind, Symbols};
use crate::attention;
use crate::debuginfo::demangle::demangle;

/// A function's instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function<'a> {
    /// Its instructions.
    pub range: Range<u64>,
    /// Its symbol; none where the image is stripped.
    pub symbol: Option<&'a str>,
    /// Nothing says where it ends: data may follow it.
    pub is_open: bool,
}

impl Function<'_> {
    /// Its name as a person wrote it; none where the image is stripped.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        self.symbol.map(demangle)
    }
}

/// Every function of an image, by address.
pub(crate) struct Functions(Vec<Function<'static>>);

impl Functions {
    /// Symbols name functions; unwinding tables know the functions that no symbol names.
    pub(crate) fn new(symbols: &Symbols, unwinding: &[Range<u64>], code: &[CodeSection<'_>]) -> Self {
        let code: Vec<Range<u64>> =
            code.iter().filter(|section| section.holds_functions()).map(CodeSection::range).collect();
        let end_of_section =
            |address| code.iter().find(|range| range.contains(&address)).map(|range| range.end);
        let mut all: Vec<Function<'static>> = Vec::new();
        for symbol in symbols.all().iter().filter(|symbol| symbol.is_function()) {
            attention::round();
            let known = all.last().is_some_and(|last| last.range.start == symbol.address);
            if !known && end_of_section(symbol.address).is_some() {
                all.push(Function { range: symbol.range(), symbol: Some(symbol.name), is_open: false });
            }
        }
        let named = Self(all);
        let unnamed = unwinding
            .iter()
            .inspect(|_| attention::round())
            .filter(|range| end_of_section(range.start).is_some() && named.at(range.start).is_none())
            .filter(|range| !named.starts_at(range.start))
            .map(|range| Function { range: range.clone(), symbol: None, is_open: false });
        let mut all: Vec<_> = unnamed.collect();
        all.extend(named.0);
        all.sort_by_key(|function| function.range.start);
        let is_data = |symbol: &&Symbol<'_>| {
            symbol.kind == SymbolKind::Object && end_of_section(symbol.address).is_some()
        };
        let data: Vec<u64> = symbols
            .all()
            .iter()
            .inspect(|_| attention::round())
            .filter(is_data)
            .map(|symbol| symbol.address)
            .collect();
        close_gaps(&mut all, unwinding, &data, &end_of_section);
        Self(all)
    }

    pub(crate) fn all(&self) -> &[Function<'static>] {
        &self.0
    }

    pub(crate) fn at(&self, address: u64) -> Option<&Function<'static>> {
        let after = self.0.partition_point(|function| function.range.start <= address);
        self.0.get(after.checked_sub(1)?).filter(|function| function.range.contains(&address))
    }

    fn starts_at(&self, address: u64) -> bool {
        self.0.binary_search_by_key(&address, |function| function.range.start).is_ok()
    }
}

/// Gives a size to functions that do not say theirs (assembly), and ends each before the next, or before data, begins.
fn close_gaps(
    all: &mut [Function<'static>],
    unwinding: &[Range<u64>],
    data: &[u64],
    end_of_section: &dyn Fn(u64) -> Option<u64>,
) {
    let starts: Vec<u64> =
        all.iter().skip(1).map(|function| function.range.start).chain([u64::MAX]).collect();
    for (function, next) in all.iter_mut().zip(starts) {
        attention::round();
        if function.range.is_empty() {
            let start = function.range.start;
            let told =
                unwinding.binary_search_by_key(&start, |range| range.start).ok().map(|i| unwinding[i].end);
            function.is_open = told.is_none();
            let next_data = data.get(data.partition_point(|&address| address < start)).copied();
            let end = || end_of_section(start).map(|end| next_data.map_or(end, |next| next.min(end)));
            function.range.end = told.or_else(end).unwrap_or(start);
        }
        function.range.end = function.range.end.min(next);
    }
}
