//! What was asked for?

use std::path::PathBuf;

use crate::clock::Effort;
use crate::ir::Mode;

pub const USAGE: &str = "usage: bench peers [--quick|--full] [--json PATH]   the tables W1 to W5 and the goals
       bench ir [--gate]                            instructions per query (needs valgrind)
       bench check [--quick|--full]                 our starts against the rrule crate's
       bench tsv FOLDER                             the rules and instants, for peers in other languages";

pub enum Verb {
    Peers { effort: Effort, json: Option<PathBuf> },
    Ir(Mode),
    IrChild { what: String, name: String, shape: String, queries: usize },
    Check(Effort),
    Tsv(PathBuf),
}

pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Verb, String> {
    let verb = words.next().ok_or("which verb?")?;
    let mut rest = words;
    match verb.as_str() {
        "peers" => {
            let (mut effort, mut json) = (Effort::Quick, None);
            while let Some(word) = rest.next() {
                match word.as_str() {
                    "--json" => {
                        json = Some(PathBuf::from(rest.next().ok_or("--json needs a path")?));
                    }
                    other => effort = self::effort(other)?,
                }
            }
            Ok(Verb::Peers { effort, json })
        }
        "ir" => match rest.next().as_deref() {
            None => Ok(Verb::Ir(Mode::Table)),
            Some("--gate") => Ok(Verb::Ir(Mode::Gate)),
            Some(other) => Err(format!("unknown option {other}")),
        },
        "ir-child" => {
            let mut word = || rest.next().ok_or("ir-child needs four words");
            let (what, name, shape) = (word()?, word()?, word()?);
            let queries = word()?.parse().map_err(|error| format!("how many queries? {error}"))?;
            Ok(Verb::IrChild { what, name, shape, queries })
        }
        "check" => Ok(Verb::Check(rest.next().map_or(Ok(Effort::Quick), |word| effort(&word))?)),
        "tsv" => Ok(Verb::Tsv(PathBuf::from(rest.next().ok_or("tsv needs a folder")?))),
        other => Err(format!("unknown verb {other}")),
    }
}

fn effort(word: &str) -> Result<Effort, String> {
    match word {
        "--quick" => Ok(Effort::Quick),
        "--full" => Ok(Effort::Full),
        other => Err(format!("unknown option {other}")),
    }
}
