//! Functions of C++'s `std::filesystem` that ask the kernel about the files that their arguments name, or change these: the calls that they
//! make are operations, and the names are read from memory. Names are those of the Itanium C++ ABI, as GNU's library has them.

use super::arguments::PointeeSize::{Bytes, CxxString};
use super::arguments::{Pointee, reads, writes};

/// Functions with one path, and with two, whose results are in registers.
const OF_ONE: &[&str] = &[
    "6status",
    "14symlink_status",
    "9file_size",
    "15hard_link_count",
    "15last_write_time",
    "16create_directory",
    "6remove",
    "11resize_file",
    "11permissions",
];
const OF_TWO: &[&str] =
    &["6rename", "14create_symlink", "24create_directory_symlink", "16create_hard_link", "10equivalent"];

/// A path begins with its text.
const PATH: &str = "ERKNS_7__cxx114pathE";

/// The memory that the arguments of the function of this name point to.
pub(super) fn named(name: &str) -> Option<&'static [Pointee]> {
    /// `std::error_code`
    const ERROR: super::arguments::PointeeSize = Bytes(16);
    let (function, rest) = name.strip_prefix("_ZNSt10filesystem")?.split_once(PATH)?;
    Some(match rest {
        _ if OF_ONE.contains(&function) => match rest {
            "" => const { &[reads(0, CxxString)] },
            "RSt10error_code" => const { &[reads(0, CxxString), writes(1, ERROR)] },
            "m" | "NS_5permsENS_12perm_optionsE" => const { &[reads(0, CxxString)] },
            "mRSt10error_code" => const { &[reads(0, CxxString), writes(2, ERROR)] },
            "NS_5permsENS_12perm_optionsERSt10error_code" => {
                const { &[reads(0, CxxString), writes(3, ERROR)] }
            }
            _ => return None,
        },
        "S3_" if OF_TWO.contains(&function) => const { &[reads(0, CxxString), reads(1, CxxString)] },
        "S3_RSt10error_code" if OF_TWO.contains(&function) => {
            const { &[reads(0, CxxString), reads(1, CxxString), writes(2, ERROR)] }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_their_types() {
        let of = |name: &str| named(name).map(<[Pointee]>::len);
        assert_eq!(of("_ZNSt10filesystem6statusERKNS_7__cxx114pathE"), Some(1));
        assert_eq!(of("_ZNSt10filesystem9file_sizeERKNS_7__cxx114pathERSt10error_code"), Some(2));
        assert_eq!(of("_ZNSt10filesystem6renameERKNS_7__cxx114pathES3_RSt10error_code"), Some(3));
        assert_eq!(of("_ZNSt10filesystem16create_directoryERKNS_7__cxx114pathES3_"), None);
        assert_eq!(of("_ZNSt10filesystem10remove_allERKNS_7__cxx114pathE"), None);
    }
}
