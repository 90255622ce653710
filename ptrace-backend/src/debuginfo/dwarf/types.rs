//! The way from a variable to a byte within it: members and elements.

use std::fmt::Write;

use gimli::{AttributeValue, DwAt, Operation, UnitOffset};

use super::die::target;
use super::reader::{Die, Unit};
use super::sections::Dwarf;

/// Deeper than any sane type; damaged files can have types that contain themselves.
const MAX_DEPTH: usize = 64;

/// Number of bytes that a value of a type takes.
pub(crate) fn size(dwarf: &Dwarf, unit: &Unit, offset: UnitOffset) -> Option<u64> {
    size_within(dwarf, unit, offset, MAX_DEPTH)
}

fn size_within(dwarf: &Dwarf, unit: &Unit, offset: UnitOffset, depth: usize) -> Option<u64> {
    let entry = unit.entry(offset).ok()?;
    if let Some(size) = number(&entry, gimli::DW_AT_byte_size) {
        return Some(size);
    }
    let (inner_unit, inner) = kind(dwarf, unit, &entry)?;
    let inner = size_within(dwarf, inner_unit, inner, depth.checked_sub(1)?)?;
    match entry.tag() {
        gimli::DW_TAG_array_type => {
            dimensions(unit, offset).iter().try_fold(inner, |size, count| size.checked_mul(*count))
        }
        _ => Some(inner),
    }
}

/// `.head`, `[3].next`: the members and elements that lead to the byte at `at`; `+0x4` for what has no name.
pub(crate) fn path(dwarf: &Dwarf, unit: &Unit, offset: UnitOffset, at: u64) -> String {
    way(dwarf, unit, offset, at, &mut |_, _| {})
}

/// Whether the byte at `at` is in something atomic: of C's atomic types, or of those of the libraries of C++ and Rust.
pub(crate) fn is_atomic(dwarf: &Dwarf, unit: &Unit, offset: UnitOffset, at: u64) -> bool {
    let mut found = false;
    way(dwarf, unit, offset, at, &mut |unit, entry| {
        let named = || text(dwarf, unit, entry).is_some_and(|name| is_atomic_name(&name));
        found |= entry.tag() == gimli::DW_TAG_atomic_type
            || (entry.tag() == gimli::DW_TAG_structure_type && named());
    });
    found
}

fn is_atomic_name(name: &str) -> bool {
    const INTEGERS: [&str; 6] = ["8", "16", "32", "64", "128", "size"];
    let is_rust = |rest: &str| {
        let integer = rest.strip_prefix(['I', 'U']);
        rest == "Bool"
            || ["<", "Ptr<"].iter().any(|start| rest.starts_with(start))
            || integer.is_some_and(|width| INTEGERS.contains(&width))
    };
    ["atomic<", "__atomic_base<", "__atomic_float<"].iter().any(|start| name.starts_with(start))
        || name == "atomic_flag"
        || name.strip_prefix("Atomic").is_some_and(is_rust)
}

/// The path to a byte, from type to type.
fn way(dwarf: &Dwarf, unit: &Unit, offset: UnitOffset, at: u64, see: &mut dyn FnMut(&Unit, &Die)) -> String {
    let mut path = String::new();
    let mut here = Some((unit, offset));
    let mut rest = at;
    for _ in 0..MAX_DEPTH {
        let Some((unit, offset)) = here else { break };
        let Ok(entry) = unit.entry(offset) else { break };
        see(unit, &entry);
        here = match entry.tag() {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                if is_opaque(dwarf, unit, &entry) {
                    return path;
                }
                member(dwarf, unit, &entry, &mut rest, &mut path)
            }
            gimli::DW_TAG_array_type => element(dwarf, unit, &entry, &mut rest, &mut path),
            gimli::DW_TAG_typedef if is_opaque(dwarf, unit, &entry) => return path,
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type => kind(dwarf, unit, &entry),
            _ => None,
        };
    }
    if rest > 0 {
        // Writing to a string cannot fail.
        let _ = write!(path, "+{rest:#x}");
    }
    path
}

/// Steps into the member that holds byte `rest`.
fn member<'a>(
    dwarf: &'a Dwarf,
    unit: &'a Unit,
    owner: &Die,
    rest: &mut u64,
    path: &mut String,
) -> Option<(&'a Unit, UnitOffset)> {
    let mut children = unit.entries_at_offset(owner.offset()).ok()?;
    children.next_dfs().ok()??;
    let first = children.next_dfs().ok()??;
    let depth = first.depth();
    let mut next = Some(first.clone());
    while let Some(child) = next {
        if child.depth() < depth {
            return None;
        }
        let is_part =
            matches!(child.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance) && child.depth() == depth;
        if is_part
            && let Some((part_unit, part)) = kind(dwarf, unit, &child)
            && let Some(start) = start_of(unit, &child)
            && let Some(size) = size(dwarf, part_unit, part)
            && (start..start.saturating_add(size)).contains(rest)
        {
            let name = text(dwarf, unit, &child).unwrap_or_default();
            let is_whole = start == 0 && number(owner, gimli::DW_AT_byte_size) == Some(size);
            let says_nothing = name.is_empty() || (is_whole && is_wrapper(dwarf, unit, owner, &name));
            if is_lock_itself(dwarf, unit, owner, &name) {
                *rest = 0;
                return None;
            }
            if !says_nothing {
                path.push('.');
                path.push_str(as_written(&name));
            }
            *rest -= start;
            return Some((part_unit, part));
        }
        next = children.next_dfs().ok()?.cloned();
    }
    None
}

/// Steps into the element that holds byte `rest`.
fn element<'a>(
    dwarf: &'a Dwarf,
    unit: &'a Unit,
    array: &Die,
    rest: &mut u64,
    path: &mut String,
) -> Option<(&'a Unit, UnitOffset)> {
    let (inner_unit, inner) = kind(dwarf, unit, array)?;
    let mut stride = size(dwarf, inner_unit, inner).filter(|&size| size > 0)?;
    let dimensions = dimensions(unit, array.offset());
    let strides: Vec<u64> = dimensions
        .iter()
        .rev()
        .map(|&count| {
            let outer = stride.saturating_mul(count.max(1));
            std::mem::replace(&mut stride, outer)
        })
        .collect();
    for stride in strides.iter().rev() {
        // Writing to a string cannot fail.
        let _ = write!(path, "[{}]", *rest / stride);
        *rest %= stride;
    }
    Some((inner_unit, inner))
}

/// Number of elements of each dimension; 0 where that is not fixed.
fn dimensions(unit: &Unit, array: UnitOffset) -> Vec<u64> {
    let mut counts = Vec::new();
    let mut read = || -> gimli::Result<()> {
        let mut tree = unit.entries_tree(Some(array))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            if entry.tag() == gimli::DW_TAG_subrange_type {
                let bound = || number(entry, gimli::DW_AT_upper_bound).and_then(|bound| bound.checked_add(1));
                counts.push(number(entry, gimli::DW_AT_count).or_else(bound).unwrap_or_default());
            }
        }
        Ok(())
    };
    // A damaged entry ends the list.
    let _ = read();
    counts
}

/// Offset of a member in its structure.
fn start_of(unit: &Unit, member: &Die) -> Option<u64> {
    if let Some(bits) = number(member, gimli::DW_AT_data_bit_offset) {
        return Some(bits / 8);
    }
    match member.attr_value(gimli::DW_AT_data_member_location) {
        // Members of unions say nothing; virtual bases say something that only the running program knows.
        None => Some(0),
        Some(AttributeValue::Exprloc(expression)) => match expression.operations(unit.encoding()).next() {
            Ok(Some(Operation::PlusConstant { value })) => Some(value),
            _ => None,
        },
        Some(value) => value.udata_value(),
    }
}

/// Synchronisation objects are one thing for their user, whatever they are made of.
fn is_opaque(dwarf: &Dwarf, unit: &Unit, entry: &Die) -> bool {
    let Some(name) = text(dwarf, unit, entry) else { return false };
    let posix = name.starts_with("pthread_") && name.ends_with("_t");
    // Programs have types of their own with such names, of other members.
    let of_rust = |member| has_member(dwarf, unit, entry, member);
    match name.as_str() {
        "sem_t" | "mtx_t" | "cnd_t" | "once_flag" | "__gthread_mutex_t" | "__gthread_cond_t" => true,
        "Condvar" | "Once" => of_rust("inner"),
        "Barrier" => of_rust("num_threads"),
        _ => posix,
    }
}

fn has_member(dwarf: &Dwarf, unit: &Unit, owner: &Die, wanted: &str) -> bool {
    let read = || -> gimli::Result<bool> {
        let mut tree = unit.entries_tree(Some(owner.offset()))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            if entry.tag() == gimli::DW_TAG_member
                && text(dwarf, unit, entry).is_some_and(|name| name == wanted)
            {
                return Ok(true);
            }
        }
        Ok(false)
    };
    // Of a damaged entry nothing is known.
    read().unwrap_or_default()
}

/// A member that is all there is to a library's type says nothing to the user of the type.
fn is_wrapper(dwarf: &Dwarf, unit: &Unit, owner: &Die, member: &str) -> bool {
    const WRAPPERS: [&str; 10] = [
        "Atomic",
        "UnsafeCell<",
        "SyncUnsafeCell<",
        "Cell<",
        "ManuallyDrop<",
        "MaybeUninit<",
        "MaybeDangling<",
        "NonNull<",
        "Unique<",
        "Mutex",
    ];
    let is_library = member.starts_with("_M_") || member.starts_with("__");
    is_library
        || text(dwarf, unit, owner)
            .is_some_and(|name| WRAPPERS.iter().any(|wrapper| name.starts_with(wrapper)))
}

/// Rust's locks hold what they protect: the rest of them is the lock, as its user sees it.
fn is_lock_itself(dwarf: &Dwarf, unit: &Unit, owner: &Die, member: &str) -> bool {
    let is_lock = |name: String| ["Mutex<", "RwLock<"].iter().any(|lock| name.starts_with(lock));
    member == "inner" && text(dwarf, unit, owner).is_some_and(is_lock)
}

/// The fields of Rust's tuples are numbers, which DWARF has as `__0`, `__1` …
fn as_written(member: &str) -> &str {
    let number = member.strip_prefix("__").unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { number } else { member }
}

fn kind<'a>(dwarf: &'a Dwarf, unit: &'a Unit, entry: &Die) -> Option<(&'a Unit, UnitOffset)> {
    target(dwarf, unit, entry.attr_value(gimli::DW_AT_type)?)
}

fn text(dwarf: &Dwarf, unit: &Unit, entry: &Die) -> Option<String> {
    let value = entry.attr_value(gimli::DW_AT_name)?;
    Some(dwarf.sections().attr_string(unit, value).ok()?.to_string_lossy().into_owned())
}

fn number(entry: &Die, name: DwAt) -> Option<u64> {
    match entry.attr_value(name)? {
        AttributeValue::Sdata(value) => u64::try_from(value).ok(),
        value => value.udata_value(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_atomic_name;

    #[test]
    fn atomic_types_of_libraries_are_known_by_name() {
        for name in
            ["atomic<int>", "__atomic_base<long>", "atomic_flag", "AtomicUsize", "AtomicU8", "AtomicBool"]
        {
            assert!(is_atomic_name(name), "{name}");
        }
        for name in ["AtomicPtr<u8>", "Atomic<usize>"] {
            assert!(is_atomic_name(name), "{name}");
        }
        for name in ["AtomicCounter", "AtomicUnit", "Atom", "atomic_counter", "int"] {
            assert!(!is_atomic_name(name), "{name}");
        }
    }
}
