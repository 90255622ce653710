//! One ELF file in memory: its sections and its identity.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::Read;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flate2::read::ZlibDecoder;
use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind};
use object::read::elf::{ElfFile64, ProgramHeader, SectionHeader};
use object::{
    CompressedData, CompressionFormat, LittleEndian, Object, ObjectSection, ObjectSymbol, SectionKind, elf,
};
use rustc_hash::FxHashSet;
use ruzstd::decoding::StreamingDecoder;

use super::bytes::PinnedBytes;
use super::error::ImageError;
use crate::attention;

/// Factor by which its sections may be larger than the file itself once they are inflated: compilers' output shrinks to
/// a third.
const MOST_INFLATED: u64 = 16;

/// As much as this they may always hold, in bytes.
const ALWAYS_INFLATED: u64 = 16 << 20;

/// So many bytes are worked on between two looks at the limit.
const PART: usize = 1 << 20;

pub(crate) type File = ElfFile64<'static, LittleEndian>;

/// An ELF file and the bytes that it was parsed from.
pub(crate) struct ElfBytes {
    /// Borrows from `bytes`: never hand out its lifetime.
    file: File,
    /// The names that it has from other images; borrows from `bytes` too.
    imported: OnceLock<FxHashSet<&'static str>>,
    /// Dropped last.
    bytes: PinnedBytes,
}

impl ElfBytes {
    pub(crate) fn read(path: &Path) -> Result<Self, ImageError> {
        let unreadable = |reason| ImageError::Unreadable { path: path.to_owned(), reason };
        let bytes = PinnedBytes::new(
            files::read_in_parts(path, files::Kind::Program, attention::look_now).map_err(unreadable)?,
        );
        // SAFETY: the parsed file is stored beside the bytes, declared before them, and only lent for `&self`.
        let detached = unsafe { bytes.detached() };
        let file = File::parse(detached)
            .map_err(|e| ImageError::Malformed { path: path.to_owned(), reason: e.to_string() })?;
        Ok(Self { file, imported: OnceLock::new(), bytes })
    }

    /// The parsed file.
    ///
    /// Everything that is kept of it has to live in a structure that owns `self` too.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn build_id(&self) -> Option<String> {
        let id = self.file.build_id().ok().flatten()?;
        Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// A digest of the whole contents that never changes between versions of the tool (FNV-1a).
    pub(crate) fn content_digest(&self) -> u64 {
        // SAFETY: the slice does not leave this function.
        let contents = unsafe { self.bytes.detached() };
        contents.chunks(PART).fold(0xcbf2_9ce4_8422_2325, |hash, part| {
            attention::look_now();
            part.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        })
    }

    /// A section's bytes as they are in the file: empty where there is none.
    pub(crate) fn section(&self, name: &str) -> (u64, &'static [u8]) {
        self.file
            .section_by_name(name)
            .and_then(|section| Some((section.address(), section.data().ok()?)))
            .unwrap_or_default()
    }

    /// Number of bytes that its sections may come to, all together, when they are inflated.
    pub(crate) fn inflatable(&self) -> u64 {
        let most = (self.bytes.len() as u64).saturating_mul(MOST_INFLATED).max(ALWAYS_INFLATED);
        most.min(files::Kind::Program.largest())
    }

    /// A section's bytes, inflated if they are compressed: empty where they would come to more than `most`, from which they are
    /// taken. Room is made for the size that the section claims before anything is inflated.
    pub(crate) fn inflated(&self, name: &str, most: &mut u64) -> Cow<'static, [u8]> {
        let section = self.file.section_by_name(name);
        let Some(data) = section.and_then(|section| section.compressed_data().ok()) else {
            return Cow::default();
        };
        if data.format != CompressionFormat::None {
            let Some(rest) = most.checked_sub(data.uncompressed_size) else { return Cow::default() };
            *most = rest;
        }
        inflate(&data).unwrap_or_default()
    }

    pub(crate) fn has_section(&self, name: &str) -> bool {
        self.file.section_by_name(name).is_some_and(|section| section.size() > 0)
    }

    /// Path that a separate file with the debug information may have (`.gnu_debuglink`).
    pub(crate) fn debug_link(&self) -> Option<PathBuf> {
        let (name, _) = self.file.gnu_debuglink().ok().flatten()?;
        Some(PathBuf::from(std::str::from_utf8(name).ok()?))
    }

    /// The sections that hold instructions.
    pub(crate) fn code(&self) -> Vec<CodeSection<'_>> {
        let sections = self.file.sections().filter(|section| {
            let header = section.elf_section_header();
            header.sh_flags(LittleEndian).contains(elf::SHF_EXECINSTR)
        });
        sections
            .filter_map(|section| {
                Some(CodeSection {
                    name: section.name().ok()?,
                    address: section.address(),
                    bytes: section.data().ok()?,
                })
            })
            .filter(|section| !section.bytes.is_empty())
            .collect()
    }

    /// The sections, by address, that satisfy `wanted`, given their name and kind, and whether the program can write there.
    pub(crate) fn sections(&self, wanted: impl Fn(&str, SectionKind, bool) -> bool) -> Vec<Range<u64>> {
        let sections = self.file.sections().filter(|section| {
            let flags = section.elf_section_header().sh_flags(LittleEndian);
            let is_writable = flags & elf::SHF_WRITE != elf::SectionFlags(0);
            section.address() != 0 && wanted(section.name().unwrap_or_default(), section.kind(), is_writable)
        });
        sections.map(|section| section.address()..section.address().saturating_add(section.size())).collect()
    }

    pub(crate) fn interpreter(&self) -> Option<PathBuf> {
        let headers = self.file.elf_program_headers().iter();
        let name = headers
            .filter_map(|header| header.interpreter(LittleEndian, self.file.data()).ok().flatten())
            .next()?;
        Some(PathBuf::from(OsStr::from_bytes(name)))
    }

    pub(crate) fn is_marked_as_program(&self) -> bool {
        let table = self.file.elf_dynamic_table().ok();
        let flags = table.into_iter().flat_map(|table| {
            table
                .iter()
                .filter(|entry| entry.tag == elf::DT_FLAGS_1)
                .map(|entry| entry.val)
                .collect::<Vec<_>>()
        });
        flags.into_iter().any(|flags| flags & elf::DF_1_PIE.0 != 0)
    }

    pub(crate) fn imports(&self, name: &str) -> bool {
        let imported = || {
            let symbols = self.file.dynamic_symbols().inspect(|_| attention::round());
            symbols.filter(|symbol| symbol.is_undefined()).filter_map(|symbol| symbol.name().ok()).collect()
        };
        self.imported.get_or_init(imported).contains(name)
    }

    /// The names of thread-local variables that the linker kept; none where it kept no names at all.
    pub(crate) fn thread_locals(&self) -> Option<Vec<&'static str>> {
        let symbols = self.file.symbols();
        let locals = symbols.filter(|symbol| symbol.elf_symbol().st_type() == elf::STT_TLS);
        let has_names = !self.file.elf_symbol_table().is_empty();
        has_names.then(|| locals.filter_map(|symbol| symbol.name().ok()).collect())
    }

    pub(crate) fn thread_local_storage(&self) -> Option<ThreadLocalStorage> {
        let headers = self.file.elf_program_headers().iter();
        let header = headers.into_iter().find(|header| header.p_type(LittleEndian) == elf::PT_TLS)?;
        Some(ThreadLocalStorage {
            size: header.p_memsz(LittleEndian),
            alignment: header.p_align(LittleEndian),
        })
    }

    /// The addresses that the file occupies, from its lowest to the end of its highest segment.
    pub(crate) fn extent(&self) -> Range<u64> {
        let loads = self
            .file
            .elf_program_headers()
            .iter()
            .filter(|header| header.p_type(LittleEndian) == elf::PT_LOAD);
        let spans = loads.map(|header| {
            let start = header.p_vaddr(LittleEndian);
            start..start.saturating_add(header.p_memsz(LittleEndian))
        });
        spans.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0)
    }
}

/// The bytes of a section; `None` where they are not as many as it says.
fn inflate<'d>(data: &CompressedData<'d>) -> Option<Cow<'d, [u8]>> {
    let size = usize::try_from(data.uncompressed_size).ok()?;
    let mut bytes = Vec::new();
    match data.format {
        CompressionFormat::None => return Some(data.data.into()),
        CompressionFormat::Zlib => {
            bytes.try_reserve_exact(size).ok()?;
            append(ZlibDecoder::new(data.data), &mut bytes, size)?;
        }
        CompressionFormat::Zstandard => {
            bytes.try_reserve_exact(size).ok()?;
            let mut rest = data.data;
            // Linkers that work in parallel make several frames.
            while !rest.is_empty() {
                append(StreamingDecoder::new(&mut rest).ok()?, &mut bytes, size)?;
            }
        }
        _ => return None,
    }
    (bytes.len() == size).then_some(bytes.into())
}

/// Reads to the end, unless that makes more than `size` bytes.
fn append(mut from: impl Read, bytes: &mut Vec<u8>, size: usize) -> Option<()> {
    loop {
        attention::look_now();
        // One more than there may be shows that there are more.
        let room = (size + 1).checked_sub(bytes.len())?.min(PART) as u64;
        if from.by_ref().take(room).read_to_end(bytes).ok()? == 0 {
            return (bytes.len() <= size).then_some(());
        }
    }
}

/// The thread-local storage of an image: each thread has a copy of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ThreadLocalStorage {
    /// In bytes.
    pub(crate) size: u64,
    pub(crate) alignment: u64,
}

/// A section of instructions.
#[derive(Clone, Copy, Debug)]
pub struct CodeSection<'a> {
    /// `.text`, `.plt` …
    pub name: &'a str,
    /// Its static address.
    pub address: u64,
    /// The instructions.
    pub bytes: &'a [u8],
}

impl<'a> CodeSection<'a> {
    /// The addresses that it covers.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.address..self.address + self.bytes.len() as u64
    }

    /// The bytes of a range of addresses; `None` if it does not lie in the section.
    #[must_use]
    pub fn part(&self, range: &Range<u64>) -> Option<&'a [u8]> {
        let offset = |address: u64| usize::try_from(address.checked_sub(self.address)?).ok();
        self.bytes.get(offset(range.start)?..offset(range.end)?)
    }

    /// Whether it holds functions, and not just start-up fragments or stubs to other images.
    #[must_use]
    pub fn holds_functions(&self) -> bool {
        let is_for_stubs = self.name.starts_with(".plt");
        !matches!(self.name, ".init" | ".fini") && (!is_for_stubs || !self.holds_stubs())
    }

    /// Whether it touches no memory but to go where a slot says.
    fn holds_stubs(&self) -> bool {
        Decoder::new(64, self.bytes, DecoderOptions::NONE).iter().all(|each| {
            attention::round();
            let only_leaves = matches!(
                each.mnemonic(),
                Mnemonic::Nop
                    | Mnemonic::Jmp
                    | Mnemonic::Push
                    | Mnemonic::Call
                    | Mnemonic::Ret
                    | Mnemonic::Endbr64
            );
            only_leaves || (0..each.op_count()).all(|operand| each.op_kind(operand) != OpKind::Memory)
        })
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    #[test]
    fn frames_one_after_the_other_are_one_section() {
        let text: Vec<u8> = (0..3_000_000_u32).flat_map(|nth| (nth / 7).to_le_bytes()).collect();
        let (first, second) = text.split_at(5_000_000);
        let frames = [first, second].map(|part| compress_to_vec(part, CompressionLevel::Fastest));
        let inflated = |frames: &[u8], uncompressed_size| {
            let format = CompressionFormat::Zstandard;
            inflate(&CompressedData { format, data: frames, uncompressed_size }).map(Cow::into_owned)
        };
        let size = text.len() as u64;
        assert!(inflated(&frames.concat(), size) == Some(text));
        assert_eq!(inflated(&frames.concat(), size - 1), None, "more than it says");
        assert_eq!(inflated(&frames[0], size), None, "less");
        assert_eq!(inflated(&[&*frames[0], b"no frame"].concat(), size), None);
    }
}
