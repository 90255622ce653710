//! The explanation of a bundled bug rests on the operations of its program: with every name of its source changed and
//! blank lines put in between, the sentence, the patterns that rank at the top and the critical pair are the same, in
//! the new words.

use std::fs;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tests::{Build, Language, Optimisation, Outcome, Renamed, Target, is_sampled, targets};

use crate::explorations::{Explorations, explore};

/// Of the bugs, one in so many is in the sample.
const ONE_IN: usize = 3;

/// Optimised programs are part of the full run.
pub(crate) fn trials(targets: &[Target], explorations: &Arc<Explorations>) -> Vec<Trial> {
    let bugs = targets.iter().filter(|target| target.is_bug() && target.language != Language::Rust);
    let trials = bugs.enumerate().flat_map(|(place, target)| {
        Optimisation::ALL.map(|level| {
            let name = format!("renamed/{}/{}/{}", target.language.folder(), target.name, level.name());
            let (target, explorations) = (target.clone(), Arc::clone(explorations));
            Trial::test(name, move || check(&target, level, &explorations))
                .with_ignored_flag(level == Optimisation::O2 || !is_sampled(place, ONE_IN))
        })
    });
    trials.collect()
}

fn check(target: &Target, level: Optimisation, explorations: &Explorations) -> Result<(), Failed> {
    let text = fs::read_to_string(targets().join(target.source()))?;
    let renamed = Renamed::new(&text, target.language)?;
    let folder = tempfile::tempdir()?;
    let source = folder.path().join(target.source().file_name().unwrap_or_default());
    fs::write(&source, &renamed.text)?;
    // The files in there are the user's own.
    fs::write(folder.path().join("interleaver.toml"), "")?;
    let made = explorations.of(&Build::new(target.source(), level).program()?);
    let old = explanation(&made.exploration()?.outcome)?;
    let new = explanation(&explore(&Build::new(&source, level).program()?, &[], true)?.outcome)?;
    let sentence = old["sentence"].as_str().unwrap_or_default();
    if !names(sentence).is_empty() && names(&renamed.sentence(sentence)) == names(sentence) {
        return Err(format!("nothing that it says is renamed: {sentence}").into());
    }
    let expected = told(&old, |text| renamed.sentence(text), |line| renamed.line(line));
    let got = told(&new, str::to_owned, Some);
    if got == expected { Ok(()) } else { Err(format!("expected {expected:#}\ngot {got:#}").into()) }
}

/// The words in backquotes.
fn names(sentence: &str) -> Vec<&str> {
    sentence.split('`').skip(1).step_by(2).collect()
}

fn explanation(outcome: &Outcome) -> Result<Value, Failed> {
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
