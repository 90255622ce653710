//! Names of types as their programmers write them.

use super::typed::TypedValue;
use crate::debuginfo::dwarf::source_unit::Language;
use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::shape::{Bound, Form, Keyword, PointerSort, Shape};
use crate::debuginfo::inspect::stopped::thread::StoppedThread;

/// Declarations are nested less deep than this; damaged ones contain themselves.
const DEEPEST: usize = 32;
const MOST_PARAMETERS: usize = 16;

impl StoppedThread<'_> {
    /// The name of a value's type.
    pub(crate) fn type_name(&self, value: &TypedValue) -> String {
        self.name_of(value.module, value.kind, value.indices)
    }

    pub(crate) fn name_of(&self, module: usize, kind: Option<Ref>, indices: usize) -> String {
        self.declared(module, kind, indices, String::new(), DEEPEST)
    }

    /// A declaration of `inner`, written around it as C does.
    fn declared(
        &self,
        module: usize,
        kind: Option<Ref>,
        indices: usize,
        inner: String,
        depth: usize,
    ) -> String {
        let put = |name: &str| if inner.is_empty() { name.to_owned() } else { format!("{name} {inner}") };
        let Some(kind) = kind else { return put("void") };
        let Some((info, depth)) = self.info(module).zip(depth.checked_sub(1)) else { return put("?") };
        let shape = info.shape(kind);
        let language = info.language(kind.unit);
        if let (Some(name), false) = (&shape.name, matches!(shape.form, Form::Array { .. })) {
            return put(&self.written(module, kind, &shape, name, language));
        }
        match &shape.form {
            Form::Alias { of, qualifier } => {
                let qualifier = qualifier.unwrap_or_default();
                let is_pointer = of.is_some_and(|of| matches!(info.shape(of).form, Form::Pointer { .. }));
                if is_pointer {
                    let inner =
                        if inner.is_empty() { qualifier.to_owned() } else { format!("{qualifier} {inner}") };
                    return self.declared(module, *of, 0, inner, depth);
                }
                let name = self.declared(module, *of, 0, inner, depth);
                // A constant array is an array of constants, and compilers say both.
                let is_said = name.strip_prefix(qualifier).is_some_and(|rest| rest.starts_with(' '));
                if is_said { name } else { format!("{qualifier} {name}") }
            }
            Form::Pointer { to, sort } => {
                let mark = match sort {
                    PointerSort::Pointer => "*",
                    PointerSort::Reference => "&",
                    PointerSort::RvalueReference => "&&",
                };
                let needs_brackets = to.is_some_and(|to| {
                    matches!(info.shape(to).form, Form::Array { .. } | Form::Function { .. })
                });
                let space = if inner.starts_with(char::is_alphabetic) { " " } else { "" };
                let inner = format!("{mark}{space}{inner}");
                let inner = if needs_brackets { format!("({inner})") } else { inner };
                self.declared(module, *to, 0, inner, depth)
            }
            Form::MemberPointer { to, class } => {
                let class = self.declared(module, *class, 0, String::new(), depth);
                let is_function = to.is_some_and(|to| matches!(info.shape(to).form, Form::Function { .. }));
                let inner = format!("{class}::*{inner}");
                let inner = if is_function { format!("({inner})") } else { inner };
                self.declared(module, *to, 0, inner, depth)
            }
            Form::Array { element, bounds } if language == Language::Rust => {
                let element = self.declared(module, *element, 0, String::new(), depth);
                bounds.iter().skip(indices).rev().fold(element, |element, bound| match bound {
                    Bound::Fixed(count) => format!("[{element}; {count}]"),
                    _ => format!("[{element}]"),
                })
            }
            Form::Array { element, bounds } => {
                let sizes = bounds.iter().skip(indices).map(|bound| match bound {
                    Bound::Fixed(count) => format!("[{count}]"),
                    _ => "[]".to_owned(),
                });
                let inner = format!("{inner}{}", sizes.collect::<String>());
                self.declared(module, *element, 0, inner, depth)
            }
            Form::Function { result, parameters } => {
                let total = parameters.len();
                // Functions that take functions that take functions have no names that a reader could make sense of.
                let deep = depth.saturating_sub(DEEPEST / 3);
                let mut parameters: Vec<String> = parameters
                    .iter()
                    .take(MOST_PARAMETERS)
                    .map(|kind| self.declared(module, *kind, 0, String::new(), deep))
                    .collect();
                if total > MOST_PARAMETERS {
                    parameters.push("…".to_owned());
                }
                self.declared(module, *result, 0, format!("{inner}({})", parameters.join(", ")), depth)
            }
            Form::Composite(parts) => put(match parts.keyword {
                Keyword::Struct => "struct",
                Keyword::Class => "class",
                Keyword::Union => "union",
            }),
            Form::Enumeration { .. } => put("enum"),
            _ => put("?"),
        }
    }

    /// The name of a named type in its language.
    fn written(&self, module: usize, kind: Ref, shape: &Shape, name: &str, language: Language) -> String {
        match language {
            Language::Rust => rust_name(name),
            Language::Cpp => {
                let info = self.info(module);
                cpp_name(&info.map_or_else(|| name.to_owned(), |info| info.qualified(kind, name)))
            }
            _ => match &shape.form {
                Form::Composite(parts) => match parts.keyword {
                    Keyword::Union => format!("union {name}"),
                    _ => format!("struct {name}"),
                },
                Form::Enumeration { .. } => format!("enum {name}"),
                _ => name.to_owned(),
            },
        }
    }

    /// The name by which a library's types are recognised: with namespaces, without arguments.
    pub(crate) fn family(&self, module: usize, kind: Ref) -> Option<String> {
        let info = self.info(module)?;
        let shape = info.shape(kind);
        let name = shape.name.as_deref()?;
        let plain = name.split('<').next().filter(|plain| !plain.is_empty()).unwrap_or(name);
        Some(info.qualified(kind, plain))
    }
}

/// A Rust type without the paths in front of its names, and without the default allocator.
pub(crate) fn rust_name(name: &str) -> String {
    let name = name.replace(", alloc::alloc::Global", "").replace(", std::hash::random::RandomState", "");
    let mut short = String::with_capacity(name.len());
    let mut word_start = 0;
    let mut rest = name.as_str();
    while let Some(next) = rest.chars().next() {
        if next.is_alphanumeric() || matches!(next, '_' | '#' | '{' | '}') {
            short.push(next);
            rest = &rest[next.len_utf8()..];
        } else if let Some(behind) = rest.strip_prefix("::") {
            short.truncate(word_start);
            rest = behind;
        } else {
            short.push(next);
            word_start = short.len();
            rest = &rest[next.len_utf8()..];
        }
    }
    short
}

/// A C++ type without what the library adds for itself: inline namespaces, default allocators and traits.
pub(crate) fn cpp_name(name: &str) -> String {
    const DEFAULTS: [&str; 7] = [
        ", std::allocator<",
        ", std::char_traits<",
        ", std::default_delete<",
        ", std::less<",
        ", std::hash<",
        ", std::equal_to<",
        ", std::__detail::",
    ];
    let mut name = name.replace("std::__cxx11::", "std::");
    for default in DEFAULTS {
        while let Some(start) = name.find(default) {
            let from = start + 2;
            let Some(end) = end_of_argument(&name[from..]) else { break };
            name.replace_range(start..from + end, "");
        }
    }
    while name.contains(" >") {
        name = name.replace(" >", ">");
    }
    name.replace("std::basic_string<char>", "std::string")
        .replace("std::basic_string_view<char>", "std::string_view")
}

/// Index at which a template argument ends.
fn end_of_argument(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'(' => depth += 1,
            b'>' | b')' if depth == 0 => return Some(at),
            b'>' | b')' => depth -= 1,
            b',' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_names_lose_their_paths() {
        for (name, expected) in [
            ("alloc::vec::Vec<program::Point, alloc::alloc::Global>", "Vec<Point>"),
            ("&mut [core::option::Option<u8>]", "&mut [Option<u8>]"),
            ("(i32, alloc::string::String)", "(i32, String)"),
            ("program::main::{closure_env#0}", "{closure_env#0}"),
            ("*const dyn core::ops::function::Fn<(i32,), Output=()>", "*const dyn Fn<(i32,), Output=()>"),
        ] {
            assert_eq!(rust_name(name), expected);
        }
    }

    #[test]
    fn cpp_names_lose_their_defaults() {
        for (name, expected) in [
            ("std::vector<int, std::allocator<int> >", "std::vector<int>"),
            (
                "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, std::less<std::__cxx11::basic_string<char> >, std::allocator<std::pair<int const, int> > >",
                "std::map<std::string, int>",
            ),
            ("std::unique_ptr<Node, std::default_delete<Node> >", "std::unique_ptr<Node>"),
            ("Mine<std::allocator<int> >", "Mine<std::allocator<int>>"),
            ("broken, std::less<int", "broken, std::less<int"),
        ] {
            assert_eq!(cpp_name(name), expected);
        }
    }
}
