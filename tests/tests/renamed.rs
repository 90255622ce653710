//! What is told of a bundled bug rests on what its program does: with every name of its source changed and blank lines put
//! in between, the sentence, the patterns that rank at the top and the critical pair are the same, in the new words.

use std::fs;
use std::path::Path;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use tests::{Build, Language, Manifest, Optimisation, Renamed, Target, Tool, targets};

/// The search's minute, and what the explanation takes.
const LIMIT: Duration = Duration::from_secs(75);

fn main() {
    let manifest = Manifest::read().unwrap_or_else(|error| panic!("{error}"));
    let bugs = manifest.targets.into_iter().filter(|target| target.is_bug());
    let trials = bugs.filter(|target| target.language != Language::Rust).flat_map(|target| {
        Optimisation::ALL.map(|level| {
            let target = target.clone();
            let name = format!("{}/{}/{}", target.language.folder(), target.name, level.name());
            Trial::test(name, move || check(&target, level))
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn check(target: &Target, level: Optimisation) -> Result<(), Failed> {
    let text = fs::read_to_string(targets().join(target.source()))?;
    let renamed = Renamed::new(&text, target.language)?;
    let folder = tempfile::tempdir()?;
    let source = folder.path().join(target.source().file_name().unwrap_or_default());
    fs::write(&source, &renamed.text)?;
    // What lies in there is the user's own.
    fs::write(folder.path().join("interleaver.toml"), "")?;
    let old = explanation(&Build::new(target.source(), level).program()?)?;
    let new = explanation(&Build::new(&source, level).program()?)?;
    let sentence = old["sentence"].as_str().unwrap_or_default();
    if !names(sentence).is_empty() && names(&renamed.sentence(sentence)) == names(sentence) {
        return Err(format!("nothing that it says is renamed: {sentence}").into());
    }
    let expected = told(&old, |text| renamed.sentence(text), |line| renamed.line(line));
    let got = told(&new, str::to_owned, Some);
    if got == expected { Ok(()) } else { Err(format!("expected {expected:#}\ngot {got:#}").into()) }
}

/// What stands in backquotes.
fn names(sentence: &str) -> Vec<&str> {
    sentence.split('`').skip(1).step_by(2).collect()
}

fn explanation(program: &Path) -> Result<Value, Failed> {
    let folder = tempfile::tempdir()?;
    // All of it, however slow the machine.
    let options = ["--explain-time".as_ref(), "1h".as_ref(), "--output".as_ref(), folder.path().as_os_str()];
    let outcome = Tool::explore(options, program).within(LIMIT).run()?;
    let explanation = &outcome.finding()["explanation"];
    if explanation["missing"] != json!([]) {
        return Err(format!("not explained: {}", outcome.transcript()).into());
    }
    Ok(explanation.clone())
}

/// Sentence, critical pair, and the patterns of the two best ranks, in other words.
fn told(explanation: &Value, words: impl Fn(&str) -> String, line: impl Fn(u64) -> Option<u64>) -> Value {
    let word = |value: &Value| value.as_str().map(&words);
    let line = |value: &Value| value.as_u64().map(&line);
    let sides = explanation["pair"]["swaps"].as_array().into_iter().flatten();
    let side = |side: &Value| json!([side["thread"], word(&side["text"]), line(&side["line"])]);
    let pair: Vec<Value> = sides.flat_map(|swap| [side(&swap[0]), side(&swap[1])]).collect();
    let access = |access: &Value| {
        json!([access["thread"], access["access"], word(&access["object"]), line(&access["line"])])
    };
    let pattern = |pattern: &Value| {
        let accesses: Vec<Value> = pattern["accesses"].as_array().into_iter().flatten().map(access).collect();
        json!({ "rank": pattern["rank"], "tied": pattern["tied"], "score": pattern["score"], "accesses": accesses })
    };
    let patterns = explanation["patterns"].as_array().into_iter().flatten();
    let best = patterns.filter(|pattern| pattern["rank"].as_u64().is_some_and(|rank| rank <= 2));
    let best: Vec<Value> = best.map(pattern).collect();
    json!({ "why": word(&explanation["sentence"]), "pair": pair, "patterns": best })
}
