//! Names as a person wrote them.

use cpp_demangle::DemangleOptions;

/// A function's or variable's name for a person: Rust without the hash, C++ without parameters, what compilers append
/// to copies of a function (`.cold`, `.constprop.0`) taken away.
#[must_use]
pub fn demangle(raw: &str) -> String {
    let plain = without_clone_suffix(raw);
    if let Ok(rust) = rustc_demangle::try_demangle(plain) {
        return format!("{rust:#}");
    }
    if plain.starts_with("_Z") {
        let options = DemangleOptions::new().no_params().no_return_type();
        if let Some(cpp) = cpp_demangle::Symbol::new(plain)
            .ok()
            .and_then(|symbol| symbol.demangle_with_options(&options).ok())
        {
            return cpp;
        }
    }
    plain.to_owned()
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
            (".hidden", ".hidden"),
            ("_Znonsense", "_Znonsense"),
        ] {
            assert_eq!(demangle(raw), expected, "{raw}");
        }
    }
}
