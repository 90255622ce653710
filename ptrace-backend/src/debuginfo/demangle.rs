//! Names as a person wrote them.

use cpp_demangle::DemangleOptions;

/// A function's or variable's name for a person: Rust without the hash, C++ without parameters, what compilers append
/// to copies of a function (`.cold`, `.constprop.0`) taken away.
#[must_use]
pub fn demangle(raw: &str) -> String {
    let plain = without_clone_suffix(raw);
    if let Ok(rust) = rustc_demangle::try_demangle(plain) {
        return inherent_method(&format!("{rust:#}"));
    }
    if plain.starts_with("_Z") {
        let options = DemangleOptions::new().no_params().no_return_type();
        if let Some(cpp) = cpp_demangle::Symbol::new(plain)
            .ok()
            .and_then(|symbol| symbol.demangle_with_options(&options).ok())
        {
            // A static's function keeps its parentheses even where parameters are left out.
            return cpp.replace("()::", "::");
        }
    }
    plain.to_owned()
}

/// Both of Rust's mangling schemes occur in one program: `Mutex::lock` in one is `<Mutex>::lock` in the other.
fn inherent_method(name: &str) -> String {
    let Some(inside) = name.strip_prefix('<') else { return name.to_owned() };
    let mut depth = 1;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            // The arrow of a function type is no bracket.
            b'>' if at > 0 && inside.as_bytes()[at - 1] == b'-' => {}
            b'>' => depth -= 1,
            _ => {}
        }
        let (of, method) = (&inside[..at], &inside[at + 1..]);
        if depth == 0 {
            let is_path = of.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            return if is_path && method.starts_with("::") {
                format!("{of}{method}")
            } else {
                name.to_owned()
            };
        }
        if depth == 1 && byte == b' ' && method.starts_with("as ") {
            break;
        }
    }
    name.to_owned()
}

/// Compilers mark copies and parts of functions, and statics within functions, with `.words` and `.numbers`.
fn without_clone_suffix(raw: &str) -> &str {
    const WORDS: [&str; 9] =
        ["cold", "part", "constprop", "isra", "lto_priv", "llvm", "localalias", "warm", "hot"];
    let mut name = raw;
    while let Some((stem, last)) = name.rsplit_once('.') {
        let number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        if stem.is_empty() || !(number || WORDS.contains(&last)) {
            break;
        }
        name = stem;
    }
    name
}

/// `queue::HEAD` of `my_program::queue::HEAD`; names of the standard library stay whole.
pub(super) fn without_crate(name: &str) -> &str {
    match name.split_once("::") {
        Some((krate, rest)) if !matches!(krate, "std" | "core" | "alloc") && !krate.starts_with('<') => rest,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::demangle;

    #[test]
    fn names_lose_what_compilers_add() {
        for (raw, expected) in [
            ("worker", "worker"),
            ("worker.cold", "worker"),
            ("calls.0", "calls"),
            ("step.constprop.0.isra.1", "step"),
            ("_ZN5queue4pushEi", "queue::push"),
            ("_Z3maxIiET_S0_S0_.part.0", "max<int>"),
            (
                "_ZN3std3sys4sync5mutex5futex5Mutex4lock17h0123456789abcdefE",
                "std::sys::sync::mutex::futex::Mutex::lock",
            ),
            ("_ZZ6workervE5calls", "worker::calls"),
            ("_ZZN3FooclEvE5calls", "Foo::operator()::calls"),
            ("_RNvMNtNtNtCs1234_3std3sys4sync5mutexNtB2_5Mutex4lock", "std::sys::sync::mutex::Mutex::lock"),
            (".hidden", ".hidden"),
            ("_Znonsense", "_Znonsense"),
        ] {
            assert_eq!(demangle(raw), expected, "{raw}");
        }
    }
}
