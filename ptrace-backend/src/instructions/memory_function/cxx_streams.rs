//! Functions of the C++ library's streams whose arguments, beside the stream, name memory from which they take what they write, or in
//! which they leave what they have read. Names are those of the Itanium C++ ABI, as GNU's library has them.

use super::arguments::PointeeSize::{Bytes, CxxString, Each, Text};
use super::arguments::{Pointee, reads, updates, writes};

/// Operators and functions of streams and strings, by what comes before the type of their second argument.
const INSERT: &str = "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_";
const EXTRACT_CHARACTER: &str = "_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_";
const EXTRACT_BYTE: &str = "_ZStrsISt11char_traitsIcEERSt13basic_istreamIcT_ES5_";
const INSERT_STRING: &str =
    "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_string";
const EXTRACT_STRING: &str =
    "_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_string";
const GET_LINE: &str =
    "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_string";

/// Members of streams, by what comes before the type of the number that they read.
const EXTRACT_NUMBER: &str = "_ZNSirsER";
const EXTRACT_ANY: &str = "_ZNSi10_M_extractI";

/// Streams, and the buffer, that hold a string.
const OF_STRINGS: &[&str] = &[
    "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE",
    "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE",
    "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE",
    "_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE",
];

/// Streams of files, and their buffer.
const OF_FILES: &[&str] = &[
    "_ZNSt14basic_ofstreamIcSt11char_traitsIcEE",
    "_ZNSt14basic_ifstreamIcSt11char_traitsIcEE",
    "_ZNSt13basic_fstreamIcSt11char_traitsIcEE",
    "_ZNSt13basic_filebufIcSt11char_traitsIcEE",
];

/// The path that a member of this name opens, behind the stream, and in the constructor of a base behind its table of tables too.
fn path(member: &str) -> Option<&'static [Pointee]> {
    let kinds = |plain: &'static [Pointee], string: &'static [Pointee], of: &str| {
        let is_string = of.starts_with("ERKNSt7__cxx1112basic_string");
        of.starts_with("EPKc").then_some(plain).or(is_string.then_some(string))
    };
    match (member.strip_prefix("4open").or(member.strip_prefix("C1")), member.strip_prefix("C2")) {
        (Some(of), _) => kinds(const { &[reads(1, Text)] }, const { &[reads(1, CxxString)] }, of),
        (None, Some(of)) => kinds(const { &[reads(2, Text)] }, const { &[reads(2, CxxString)] }, of),
        (None, None) => None,
    }
}

/// The memory that the arguments of the function of this name point to, beside the stream.
pub(super) fn named(name: &str) -> Option<&'static [Pointee]> {
    match name {
        "_ZNSi4readEPcl" | "_ZNSi8readsomeEPcl" | "_ZNSi3getEPcl" | "_ZNSi3getEPclc"
        | "_ZNSi7getlineEPcl" | "_ZNSi7getlineEPclc" => return Some(const { &[writes(1, Each(2, 1))] }),
        "_ZNSi3getERc" => return Some(const { &[writes(1, Bytes(1))] }),
        "_ZNSo5writeEPKcl" | "_ZNSo8_M_writeEPKcl" => return Some(const { &[reads(1, Each(2, 1))] }),
        _ => {}
    }
    if let Some(of) = name.strip_prefix(EXTRACT_NUMBER) {
        return number(of);
    }
    if let Some(of) = name.strip_prefix(EXTRACT_ANY) {
        return number(of.strip_suffix("EERSiRT_")?);
    }
    if let Some(of) = name.strip_prefix(INSERT) {
        return matches!(of, "PKc" | "PKa" | "PKh").then_some(const { &[reads(1, Text)] });
    }
    if let Some(of) = name.strip_prefix(EXTRACT_CHARACTER).or_else(|| name.strip_prefix(EXTRACT_BYTE)) {
        return matches!(of, "RS3_" | "Ra" | "Rh").then_some(const { &[writes(1, Bytes(1))] });
    }
    if name.starts_with(INSERT_STRING) {
        return Some(const { &[reads(1, CxxString)] });
    }
    if name.starts_with(EXTRACT_STRING) || name.starts_with(GET_LINE) {
        return Some(const { &[updates(1, CxxString)] });
    }
    if name.starts_with("_ZNKSt7__cxx111") && name.ends_with("3strEv") {
        return Some(const { &[writes(0, Bytes(32))] });
    }
    if let Some(member) = OF_FILES.iter().find_map(|class| name.strip_prefix(class)) {
        return path(member);
    }
    let member = OF_STRINGS.iter().find_map(|class| name.strip_prefix(class))?;
    let is_given_string =
        ["C1ERKNS_", "C2ERKNS_", "3strERKNS_"].iter().any(|start| member.starts_with(start));
    is_given_string.then_some(const { &[reads(1, CxxString)] })
}

/// A number of this type, which is read to where the second argument points.
fn number(of: &str) -> Option<&'static [Pointee]> {
    Some(match of {
        "b" => const { &[writes(1, Bytes(1))] },
        "s" | "t" => const { &[writes(1, Bytes(2))] },
        "i" | "j" | "f" => const { &[writes(1, Bytes(4))] },
        "l" | "m" | "x" | "y" | "d" | "Pv" => const { &[writes(1, Bytes(8))] },
        "e" => const { &[writes(1, Bytes(16))] },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_their_types() {
        for (name, expected) in [
            ("_ZNSirsERi", Some(writes(1, Bytes(4)))),
            ("_ZNSirsERPv", Some(writes(1, Bytes(8)))),
            ("_ZNSirsEPFRSiS_E", None),
            ("_ZNSi10_M_extractIdEERSiRT_", Some(writes(1, Bytes(8)))),
            ("_ZNSo5writeEPKcl", Some(reads(1, Each(2, 1)))),
            ("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", Some(reads(1, Text))),
            ("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c", None),
            ("_ZNSolsEi", None),
            ("_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode", Some(reads(1, Text))),
            (
                "_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC2ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
                Some(reads(2, CxxString)),
            ),
            ("_ZNSt14basic_ifstreamIcSt11char_traitsIcEE5closeEv", None),
        ] {
            assert_eq!(named(name).map(|pointees| pointees[0]), expected, "{name}");
        }
    }
}
