//! Types of the contents that allocating functions of libraries put into their blocks: `Arc::new`, `Box::new`,
//! `std::make_shared`, `std::make_unique`. The allocator knows a size only, but these functions are instances for a
//! type.

use std::ops::Range;

use super::blocks;
use super::entry::{MOST_REFERENCES, Ref};
use super::info::{Info, children, file_of};
use crate::debuginfo::dwarf::sections::Dwarf;
use crate::debuginfo::dwarf::types;
use crate::debuginfo::user::files::is_user_file;

/// The type of a block that such a function has allocated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllocationType {
    /// The name of its type, without the modules that this is in.
    pub kind: String,
    /// The type is none of a library's.
    pub is_users: bool,
    family: Family,
    /// The type of the block, where it has one, else of what it holds.
    whole: Ref,
}

/// The layout of blocks by the function that makes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Arc,
    /// Several, one behind the other.
    Many,
    Plain,
    Shared,
}

impl Family {
    /// The family of a function that allocates, by its name with the modules and the type that it belongs to.
    fn of(function: &str) -> Option<Self> {
        const FUNCTIONS: [(Family, &str, &str); 3] = [
            (Family::Arc, "alloc::sync::Arc<", ">::new"),
            (Family::Shared, "std::make_shared<", ">"),
            (Family::Plain, "std::make_unique<", ">"),
        ];
        // A `Box` is a pointer to debug information, so that what belongs to it has but the number of an `impl`.
        let of_box = function.strip_prefix("alloc::boxed::{impl#").and_then(|rest| rest.split_once("}::"));
        if of_box.is_some_and(|(_, method)| method.starts_with("new<")) {
            return Some(Self::Plain);
        }
        let mut known = FUNCTIONS.iter();
        let is_it = |start: &str, end| {
            function.strip_prefix(start).is_some_and(|rest| without_arguments(rest) == end)
        };
        known.find(|(_, start, end)| is_it(start, *end)).map(|(family, ..)| *family)
    }
}

/// Type of the contents of the block that a library's function allocates: the function that the user's own code calls
/// at a static address, or that the address is in.
pub(crate) fn allocation_type_at(info: Info<'_>, address: u64) -> Option<AllocationType> {
    let function = info.function_at(address)?;
    let calls: Vec<Ref> =
        blocks::calls(info, function, address).iter().filter_map(|call| Some(call.first()?.entry)).collect();
    let is_users = |call: &Ref| file_of(info, *call).is_some_and(|file| is_user_file(&file));
    let users = calls.iter().position(is_users).unwrap_or(calls.len());
    made_by(info, *calls.get(users.checked_sub(1)?)?)
}

impl AllocationType {
    /// The type of a pointer's target, by the pointer's own type.
    pub(crate) fn pointed_to(info: Info<'_>, whole: Ref, name: &str, is_of_many: bool) -> Option<Self> {
        // The compiler's own names, as of closures, begin with a bracket.
        let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
        let is_users = match file_of(info, whole) {
            Some(file) => is_user_file(&file),
            None => is_users(&info.qualified(whole, name)),
        };
        let kind = short(name);
        let family = if is_of_many { Family::Many } else { Family::Plain };
        is_name.then_some(Self { kind, is_users, family, whole })
    }

    /// Whether the block holds several of them.
    pub(crate) fn is_of_many(&self) -> bool {
        self.family == Family::Many
    }

    /// The words for the part of it that these bytes of the block begin in, or for the whole, if they hold that: the way to a
    /// part begins at the type of what the block holds, or at that of its owner, if it is the owner's.
    pub(crate) fn words(&self, dwarf: &Dwarf, bytes: Range<u64>) -> Option<String> {
        /// The counts that the block of a `std::shared_ptr` has before its contents, behind the table of its functions.
        const COUNTS: Range<u64> = 8..16;
        const WEAK: u64 = 12;
        let kind = &self.kind;
        let start = if self.family == Family::Shared { COUNTS.end } else { 0 };
        if start > 0 && COUNTS.contains(&bytes.start) {
            let count = if bytes.start < WEAK { "use_count" } else { "weak_count" };
            return Some(format!("shared_ptr<{kind}>.{count}"));
        }
        let unit = dwarf.units().get(self.whole.unit)?;
        let size = types::size(dwarf, unit, self.whole.offset)?;
        if self.family == Family::Many {
            let (nth, at) = (bytes.start / size, bytes.start % size);
            return Some(format!("{kind}[{nth}]{}", types::path(dwarf, unit, self.whole.offset, at)));
        }
        if bytes.start <= start && bytes.end >= start + size {
            return Some(kind.clone());
        }
        let at = bytes.start.checked_sub(start).filter(|&at| at < size)?;
        let path = types::path(dwarf, unit, self.whole.offset, at);
        Some(match (self.family, path.strip_prefix(".data")) {
            (Family::Arc, None) => format!("Arc<{kind}>{path}"),
            (Family::Arc, Some(inside)) => format!("{kind}{inside}"),
            _ => format!("{kind}{path}"),
        })
    }
}

/// Whether the part of a block of this name counts the owners of the block.
#[must_use]
pub fn is_reference_count(name: &str) -> bool {
    let of = |owner: &str, counts: [&str; 2]| {
        name.starts_with(owner) && counts.into_iter().any(|count| name.contains(count))
    };
    of("shared_ptr<", [">.use_count", ">.weak_count"]) || of("Arc<", [">.strong", ">.weak"])
}

/// The type that a function allocates, if its name and arguments tell.
fn made_by(info: Info<'_>, call: Ref) -> Option<AllocationType> {
    let function = std::iter::successors(Some(call), |&entry| info.origin(entry.unit, &info.die(entry)?));
    let function: Vec<Ref> = function.take(MOST_REFERENCES).collect();
    let declared = *function.last()?;
    let family = Family::of(&info.qualified(declared, &info.name(declared)?))?;
    let owner = info.unit_index(declared.unit)?.scopes_around(declared.offset).next();
    let owner = owner.map(|offset| Ref { unit: declared.unit, offset });
    let held = owner.into_iter().chain(function).find_map(|entry| first_argument(info, entry))?;
    let name = info.name(held).filter(|name| !name.starts_with('{'))?;
    let whole = match family {
        Family::Arc => info.instance(held.unit, "alloc::sync::ArcInner", held)?,
        Family::Many | Family::Plain | Family::Shared => held,
    };
    let is_users = is_users(&info.qualified(held, &name));
    Some(AllocationType { kind: short(&name), is_users, family, whole })
}

/// The type that a template or generic type or function is instantiated with first.
fn first_argument(info: Info<'_>, entry: Ref) -> Option<Ref> {
    let mut found = None;
    children(info, entry, &mut |unit, child| {
        if child.tag() == gimli::DW_TAG_template_type_parameter && found.is_none() {
            found = child.attr_value(gimli::DW_AT_type).and_then(|value| info.target(unit, value));
        }
    });
    found
}

/// Index of the bracket that closes a list of arguments.
fn closing(arguments: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in arguments.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            // The arrow of a function type is no bracket.
            b'>' if at > 0 && arguments.as_bytes()[at - 1] == b'-' => {}
            b'>' if depth == 0 => return Some(at),
            b'>' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The text behind a list of arguments, its closing bracket included, without the arguments in that.
fn without_arguments(path: &str) -> &str {
    closing(path).and_then(|end| path[end..].split('<').next()).unwrap_or_default()
}

/// A type's name as people say it: without modules, and without arguments that are mostly left to their defaults.
fn short(name: &str) -> String {
    const DEFAULTS: [&str; 6] =
        [", allocator<", ", default_delete<", ", char_traits<", ", less<", ", hash<", ", equal_to<"];
    let mut short = without_modules(name);
    while let Some(start) = DEFAULTS.iter().find_map(|default| short.find(default)) {
        let inside = start + short[start..].find('<').map_or(0, |bracket| bracket + 1);
        let end = closing(&short[inside..]).map_or(short.len(), |end| inside + end + 1);
        short.replace_range(start..end, "");
    }
    short.replace(" >", ">").replace("basic_string<char>", "string").replace(", Global>", ">")
}

/// Names without the modules or namespaces that they are in.
fn without_modules(name: &str) -> String {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | ':');
    let mut found = String::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|character| is_part(character) != is_part(first)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        found.push_str(if is_part(first) { run.rsplit("::").next().unwrap_or(run) } else { run });
        rest = after;
    }
    found
}

/// Whether a type, named with its modules, is none of the languages' own libraries.
fn is_users(name: &str) -> bool {
    const LIBRARIES: [&str; 4] = ["std", "core", "alloc", "hashbrown"];
    /// The languages' own names for types without a module begin in lower case, and with a bracket.
    const BUILT_IN: [&str; 9] =
        ["int", "unsigned", "long", "short", "char", "bool", "float", "double", "wchar_t"];
    let head = name.split('<').next().unwrap_or_default();
    match head.split_once("::") {
        Some((first, _)) => !LIBRARIES.contains(&first),
        // Rust's own are `u32`, `str`, `(A, B)`.
        None => {
            let first = head.split(' ').next().unwrap_or_default();
            let is_sized =
                first.starts_with(['u', 'i', 'f']) && first[1..].bytes().all(|byte| byte.is_ascii_digit());
            !BUILT_IN.contains(&first)
                && !is_sized
                && head.starts_with(|c: char| c.is_alphabetic() || c == '_')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_allocate_are_known_by_name() {
        for (function, family) in [
            ("alloc::sync::Arc<post::Mailbox, alloc::alloc::Global>::new<post::Mailbox>", Some(Family::Arc)),
            ("alloc::sync::Arc<post::Mailbox, alloc::alloc::Global>::downgrade<post::Mailbox>", None),
            ("alloc::boxed::{impl#0}::new<post::Mailbox>", Some(Family::Plain)),
            ("std::make_shared<Shelf<int>, int&>", Some(Family::Shared)),
            ("std::make_unique<Shelf<int> >", Some(Family::Plain)),
            ("post::make_unique<int>", None),
        ] {
            assert_eq!(Family::of(function), family, "{function}");
        }
    }

    #[test]
    fn arguments_of_types_and_functions_are_left_out() {
        assert_eq!(without_arguments("post::Mailbox, alloc::alloc::Global>::new<post::Mailbox>"), ">::new");
        assert_eq!(without_arguments("fn(u8) -> [u8; 3]>::default"), ">::default");
        assert_eq!(without_arguments("Shelf<int>, int&>"), ">");
        assert_eq!(without_arguments("broken"), "");
    }

    #[test]
    fn types_are_named_without_their_modules() {
        assert_eq!(without_modules("post::office::Mailbox"), "Mailbox");
        let full = "std::sync::poison::mutex::Mutex<core::option::Option<post::Letter>>";
        assert_eq!(without_modules(full), "Mutex<Option<Letter>>");
        assert_eq!(without_modules("(u8, post::Letter)"), "(u8, Letter)");
    }

    #[test]
    fn what_is_left_to_its_default_is_not_said() {
        for (full, said) in [
            (
                "BoundedQueue<std::unique_ptr<Work, std::default_delete<Work> > >",
                "BoundedQueue<unique_ptr<Work>>",
            ),
            (
                "Cache<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int>",
                "Cache<string, int>",
            ),
            ("alloc::vec::Vec<post::Letter, alloc::alloc::Global>", "Vec<Letter>"),
            ("Pair<int, GlobalState>", "Pair<int, GlobalState>"),
            (
                "std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > >",
                "map<int, long>",
            ),
            ("Two<std::allocator<int>, std::hash<int>, Last<int> >", "Two<allocator<int>, Last<int>>"),
            ("broken<int, std::allocator<int", "broken<int"),
        ] {
            assert_eq!(short(full), said);
        }
    }

    #[test]
    fn types_of_libraries_are_none_of_the_users() {
        for name in ["post::Mailbox", "Mailbox", "mailbox", "post::Shelf<alloc::string::String>"] {
            assert!(is_users(name), "{name}");
        }
        for name in [
            "std::sync::poison::mutex::Mutex<post::Mailbox>",
            "u32",
            "(u8, u8)",
            "unsigned int",
            "std::vector<int>",
        ] {
            assert!(!is_users(name), "{name}");
        }
    }
}
