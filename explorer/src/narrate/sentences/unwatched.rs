//! The account of unwatched code and effects, as reports tell it: the entries that the user answers for, and those that
//! take a claim away.

use std::collections::BTreeMap;

use checker::account::{Unwatched, UnwatchedKind};

use crate::report::plural::plural;
use crate::report::{BufferedStore, NotCovered};

/// The variables in which the C library finds its standard streams.
const STREAM_VARIABLES: [&str; 3] = ["stdin", "stdout", "stderr"];

/// Of so many stores the places are told.
pub(crate) const STORES: usize = 4;

/// The entries that take a claim away, and those that the user answers for.
pub(crate) fn split(
    unwatched: &BTreeMap<Unwatched, u64>,
    assumed: &[String],
) -> (Vec<NotCovered>, Vec<NotCovered>) {
    let entries = unwatched.iter().map(|(Unwatched { kind, module, function }, &count)| NotCovered {
        kind: *kind,
        module: module.clone(),
        function: function.clone(),
        count,
        stores: Vec::new(),
    });
    entries.partition(|entry| !entry.is_assumed(assumed))
}

/// Sentences on names that answer for nothing: they are of no kind, and no entry has them.
pub(crate) fn unused<'a>(
    unwatched: &'a BTreeMap<Unwatched, u64>,
    assumed: &'a [String],
) -> impl Iterator<Item = String> + 'a {
    let is_used = |name: &String| {
        let (_, answered) = split(unwatched, std::slice::from_ref(name));
        !answered.is_empty() || UnwatchedKind::ALL.iter().any(|kind| kind.name() == name)
    };
    assumed.iter().filter(move |name| !is_used(name)).map(|name| {
        format!("nothing is assumed for `{name}`, which is no kind of what is not seen, and no library of it")
    })
}

/// One line for each kind and module: `what libtbb.so does in 12 functions (tbb::…, …)`.
pub(crate) fn lines(entries: &[NotCovered]) -> Vec<String> {
    let mut groups: Vec<(UnwatchedKind, Option<&str>, Vec<&str>)> = Vec::new();
    for entry in entries {
        let module = entry.module.as_deref();
        let function = entry.function.as_deref();
        match groups.iter_mut().find(|(kind, of, _)| (*kind, *of) == (entry.kind, module)) {
            Some((_, _, functions)) => functions.extend(function),
            None => groups.push((entry.kind, module, function.into_iter().collect())),
        }
    }
    let stores: Vec<String> = entries.iter().flat_map(|entry| &entry.stores).map(buffered).collect();
    let stores = stores.join(", ");
    let told = |(kind, module, functions): (UnwatchedKind, Option<&str>, Vec<&str>)| match kind {
        UnwatchedKind::StoreBuffering if !stores.is_empty() => {
            format!("{} ({stores}); --memory-model sc leaves them out", words(kind, module, &functions))
        }
        _ => words(kind, module, &functions),
    };
    groups.into_iter().map(told).collect()
}

/// `a.c:12 after a.c:13`.
fn buffered(BufferedStore { store, load, .. }: &BufferedStore) -> String {
    format!("{} after {}", store.words(), load.words())
}

fn words(kind: UnwatchedKind, module: Option<&str>, functions: &[&str]) -> String {
    let of = module.unwrap_or("a library");
    match kind {
        UnwatchedKind::LibraryFunction if functions.is_empty() => {
            format!("what {of} does in functions of its own")
        }
        UnwatchedKind::LibraryFunction => {
            format!("what {of} does in {}", listed(functions))
        }
        UnwatchedKind::LoadedCode => match module {
            Some(module) => format!("code of {module}, which was loaded while the program ran"),
            None => "code that was loaded while the program ran".to_owned(),
        },
        UnwatchedKind::GeneratedCode => "code that the program has made itself".to_owned(),
        UnwatchedKind::UndecodedCode if functions.is_empty() => {
            format!("code of {of} that could not be decoded")
        }
        UnwatchedKind::UndecodedCode => {
            format!("what {} of {of} does behind bytes that could not be decoded", listed(functions))
        }
        UnwatchedKind::LiftedTraps => "instructions that ran too often to be watched each time".to_owned(),
        UnwatchedKind::SharedMapping => {
            "memory that is reached in two ways (at two addresses, as the content of a file, through a pipe)".to_owned()
        }
        UnwatchedKind::DeadFrame => {
            "memory of functions that have returned, which other threads still use".to_owned()
        }
        UnwatchedKind::SwitchedStack => {
            "memory that a thread has for another stack (of a coroutine, say), which other threads use".to_owned()
        }
        UnwatchedKind::HeldObject => {
            "what the program's own code does to the memory of a lock that is held, or of an object that threads wait for"
                .to_owned()
        }
        UnwatchedKind::AddressReuse => {
            "comparisons with the address of a block that was freed, where the allocator gives the same address out again"
                .to_owned()
        }
        UnwatchedKind::Task => {
            format!("threads or processes that are not scheduled, started by {}", listed(functions))
        }
        UnwatchedKind::File if functions == ["link"] => "files that have several names".to_owned(),
        UnwatchedKind::File if functions.iter().all(|name| STREAM_VARIABLES.contains(name)) => {
            format!("calls that find their stream in {}, which threads change", functions.join(", "))
        }
        UnwatchedKind::File => format!("files that are used through streams, by {}", listed(functions)),
        UnwatchedKind::SystemCall => {
            format!("what {} of the kernel mean for other threads", listed(functions))
        }
        UnwatchedKind::AsynchronousCancellation => {
            "a cancellation between two scheduling points of a thread that allows it anywhere".to_owned()
        }
        UnwatchedKind::TornAccess => {
            "accesses and calls that are not carried out in one step, half done".to_owned()
        }
        UnwatchedKind::StoreBuffering => {
            "stores that the processor carries out after later loads of the same thread".to_owned()
        }
        UnwatchedKind::Client => {
            "what the client does beside its connections (files that it writes, signals), and other orders of its own processes"
                .to_owned()
        }
        UnwatchedKind::OutsideInput => {
            "what the program does with connections, input or locks of files from outside: it waited for them, and none \
             came (--client starts a client with it)"
                .to_owned()
        }
    }
}

/// `1 function (strtok)`, `12 functions (a, b, c, …)`.
fn listed(functions: &[&str]) -> String {
    const SHOWN: usize = 3;
    let more = if functions.len() > SHOWN { ", …" } else { "" };
    let shown = functions.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    format!("{} ({shown}{more})", plural(functions.len() as u64, "function"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: UnwatchedKind, module: &str, function: &str) -> (Unwatched, u64) {
        (Unwatched { kind, module: Some(module.to_owned()), function: Some(function.to_owned()) }, 2)
    }

    #[test]
    fn what_the_user_answers_for_takes_no_claim_away() {
        let unwatched = BTreeMap::from([
            entry(UnwatchedKind::LibraryFunction, "liba.so", "f"),
            entry(UnwatchedKind::LibraryFunction, "libb.so.1.2", "g"),
            entry(UnwatchedKind::File, "libc.so.6", "fputs"),
        ]);
        let of = |assumed: &[&str]| {
            let assumed: Vec<String> = assumed.iter().map(|name| (*name).to_owned()).collect();
            let (open, answered) = split(&unwatched, &assumed);
            (open.len(), answered.len())
        };
        assert_eq!(of(&[]), (3, 0));
        assert_eq!(of(&["libb.so"]), (2, 1));
        assert_eq!(of(&["libb"]), (2, 1));
        assert_eq!(of(&["libb.so.1.2"]), (2, 1));
        assert_eq!(of(&["lib"]), (3, 0));
        assert_eq!(of(&["libb.so", "file"]), (1, 2));
    }

    #[test]
    fn functions_of_one_library_are_told_in_one_line() {
        let unwatched =
            BTreeMap::from(["a", "b", "c", "d"].map(|f| entry(UnwatchedKind::LibraryFunction, "liba.so", f)));
        let (open, _) = split(&unwatched, &[]);
        assert_eq!(lines(&open), ["what liba.so does in 4 functions (a, b, c, …)"]);
    }
}
