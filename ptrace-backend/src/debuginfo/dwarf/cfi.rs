//! Unwinding tables (`.eh_frame`): how to get from a function's registers to its caller's.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, Encoding, RegisterRule, UnwindContext, UnwindSection,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::reader::Reader;
use crate::attention;
use crate::debuginfo::elf::file::ElfBytes;

/// The rules by which a call is undone at one instruction.
pub(crate) struct CallerRow {
    pub(crate) cfa: CfaRule<usize>,
    /// Register (DWARF number, 16 is the return address) and how to restore it.
    pub(crate) rules: SmallVec<[(u16, RegisterRule<usize>); 8]>,
    /// The frame below was entered by a signal and not by a call.
    pub(crate) is_signal: bool,
    pub(crate) encoding: Encoding,
}

/// The unwinding table of one image, indexed when it is first used.
pub(crate) struct Cfi {
    section: EhFrame<Reader>,
    bases: BaseAddresses,
    index: OnceLock<Vec<(Range<u64>, usize)>>,
    /// Every row that was ever asked for: a program has few distinct places where threads stop.
    rows: Mutex<FxHashMap<u64, Option<Arc<CallerRow>>>>,
}

impl Cfi {
    /// The table of `elf`, which has to outlive the result.
    pub(crate) fn new(elf: &ElfBytes) -> Self {
        let (address, bytes) = elf.section(".eh_frame");
        let bases = BaseAddresses::default()
            .set_eh_frame(address)
            .set_eh_frame_hdr(elf.section(".eh_frame_hdr").0)
            .set_text(elf.section(".text").0)
            .set_got(elf.section(".got").0);
        let mut section = EhFrame::from(Reader::new(bytes, gimli::LittleEndian));
        section.set_address_size(8);
        Self { section, bases, index: OnceLock::new(), rows: Mutex::default() }
    }

    pub(crate) fn section(&self) -> &EhFrame<Reader> {
        &self.section
    }

    /// The functions that have an unwinding table, by address.
    pub(crate) fn functions(&self) -> Vec<Range<u64>> {
        self.index().iter().map(|(range, _)| range.clone()).collect()
    }

    /// The rules by which the call at an address is undone; none where the table has none.
    pub(crate) fn row(&self, address: u64) -> Option<Arc<CallerRow>> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.entry(address).or_insert_with(|| self.read_row(address).map(Arc::new)).clone()
    }

    /// A search table of our own: the image's `.eh_frame_hdr` has no ends of functions and may be missing.
    fn index(&self) -> &[(Range<u64>, usize)] {
        self.index.get_or_init(|| {
            let mut index = Vec::new();
            let mut entries = self.section.entries(&self.bases);
            let mut common = FxHashMap::default();
            while let Ok(Some(entry)) = entries.next() {
                attention::round();
                let CieOrFde::Fde(partial) = entry else { continue };
                let parsed = partial.parse(|section, bases, offset| match common.get(&offset.0) {
                    Some(known) => Ok(Clone::clone(known)),
                    None => section.cie_from_offset(bases, offset).inspect(|cie| {
                        common.insert(offset.0, cie.clone());
                    }),
                });
                if let Ok(fde) = parsed
                    && fde.len() > 0
                {
                    index.push((fde.initial_address()..fde.end_address(), fde.offset()));
                }
            }
            index.sort_unstable_by_key(|(range, _)| {
                attention::round();
                range.start
            });
            index
        })
    }

    fn read_row(&self, address: u64) -> Option<CallerRow> {
        let index = self.index();
        let after = index.partition_point(|(range, _)| range.start <= address);
        let (_, offset) = index.get(after.checked_sub(1)?).filter(|(range, _)| range.contains(&address))?;
        let fde =
            self.section.fde_from_offset(&self.bases, (*offset).into(), EhFrame::cie_from_offset).ok()?;
        let mut context = UnwindContext::new();
        let row = fde.unwind_info_for_address(&self.section, &self.bases, &mut context, address).ok()?;
        Some(CallerRow {
            cfa: row.cfa().clone(),
            rules: row.registers().map(|(register, rule)| (register.0, rule.clone())).collect(),
            is_signal: fde.is_signal_trampoline(),
            encoding: fde.cie().encoding(),
        })
    }
}
