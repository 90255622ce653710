//! The functions of formatted output, `printf` and its kin, and their arguments.

/// A function of formatted output: the places of its arguments, by their numbers (from 0).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Formatted {
    /// The format.
    pub(super) format: u8,
    /// The values to be formatted come right behind the format: as arguments, or, where this is set, as a list of
    /// arguments.
    pub(super) list: bool,
    /// The destination of the text; `None`: a stream.
    pub(super) into: Option<Into>,
}

/// The buffer is the first argument, or the first argument is the place for its address; its length is the second
/// argument or none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Into {
    Bounded,
    Unbounded,
    Allocated,
}

impl Formatted {
    /// The function of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let of = |format, list, into| Self { format, list, into };
        Some(match name {
            "printf" => of(0, false, None),
            "fprintf" | "dprintf" | "__printf_chk" => of(1, false, None),
            "__fprintf_chk" | "__dprintf_chk" => of(2, false, None),
            "vprintf" => of(0, true, None),
            "vfprintf" | "vdprintf" | "__vprintf_chk" => of(1, true, None),
            "__vfprintf_chk" => of(2, true, None),
            "sprintf" => of(1, false, Some(Into::Unbounded)),
            "__sprintf_chk" => of(3, false, Some(Into::Unbounded)),
            "snprintf" => of(2, false, Some(Into::Bounded)),
            "__snprintf_chk" => of(4, false, Some(Into::Bounded)),
            "vsprintf" => of(1, true, Some(Into::Unbounded)),
            "__vsprintf_chk" => of(3, true, Some(Into::Unbounded)),
            "asprintf" => of(1, false, Some(Into::Allocated)),
            "__asprintf_chk" => of(2, false, Some(Into::Allocated)),
            "vasprintf" => of(1, true, Some(Into::Allocated)),
            "__vasprintf_chk" => of(2, true, Some(Into::Allocated)),
            "vsnprintf" => of(2, true, Some(Into::Bounded)),
            "__vsnprintf_chk" => of(4, true, Some(Into::Bounded)),
            _ => return None,
        })
    }
}
