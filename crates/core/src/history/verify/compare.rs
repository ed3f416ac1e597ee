//! Do sources of one history say the same? One that lost something is told, whoever else still holds it.

use std::collections::BTreeMap;

use super::{
    Break, Held, Source, Stored, Verified, is_dropped_from, number, numbers, page_of, text,
};

/// The hashes of a history by their numbers.
type Hashes<'a> = BTreeMap<i64, &'a str>;

/// Breaks whatever disagrees with another source: what is held now lacks what somebody kept, or two say different things of one number.
pub(super) fn compare(sources: &[Source], found: &mut Vec<(usize, Verified)>) {
    lost(sources, found);
    let clean = |verified: &Verified| verified.broken.is_none();
    for index in 0..found.len() {
        let (own, verified) = &found[index];
        let others = found.iter().filter(|(other, _)| other != own);
        let others = others.filter(|(_, other)| other.chain == verified.chain && clean(other));
        let mut others = others.map(|(other, verified)| (&sources[*other], verified));
        let broken = if clean(verified) {
            others.find_map(|other| disagreement((&sources[*own], verified), other))
        } else {
            None
        };
        if broken.is_some() {
            found[index].1.broken = broken;
        }
    }
}

/// What is held now lacks a whole history, or somebody kept nothing.
fn lost(sources: &[Source], found: &mut Vec<(usize, Verified)>) {
    let nothing = |source: &Source, chain: &str, why: String| Verified {
        source: source.name.clone(),
        chain: chain.to_owned(),
        entries: 0,
        first: 1,
        last: (0, String::new()),
        unread: Vec::new(),
        broken: Some(Break { number: None, page: None, why }),
    };
    let mut lost = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        if source.held == Held::Kept {
            if source.entries.is_empty() && !found.is_empty() {
                lost.push((index, nothing(source, "", "it holds no entry".to_owned())));
            }
            continue;
        }
        let mut missed: BTreeMap<&str, &Verified> = BTreeMap::new();
        for (other, verified) in found.iter() {
            let holds = found.iter().any(|(own, one)| *own == index && one.chain == verified.chain);
            if *other != index && !holds {
                missed.entry(&verified.chain).or_insert(verified);
            }
        }
        for (chain, other) in missed {
            let why = format!(
                "it holds no entry of this history, and {} holds some up to {}",
                other.source, other.last.0
            );
            lost.push((index, nothing(source, chain, why)));
        }
    }
    found.extend(lost);
}

/// What is wrong with one that hangs together by itself, beside another that does.
fn disagreement(
    (source, own): (&Source, &Verified),
    (other_source, other): (&Source, &Verified),
) -> Option<Break> {
    let at = |number: i64, why: String| {
        Some(Break { number: Some(number), page: Some(page_of(number)), why })
    };
    let (hashes, others) = (hashes(source, &own.chain), hashes(other_source, &own.chain));
    let name = &other.source;
    let differs =
        |(number, hash): &(&i64, &&str)| others.get(*number).is_some_and(|other| other != *hash);
    if let Some((number, _)) = hashes.iter().find(differs) {
        return at(*number, format!("entry {number} is another one than in {name}"));
    }
    if source.held == Held::Kept {
        return None;
    }
    let (last, kept) = (own.last.0, other.last.0);
    if last < kept {
        let cut = numbers(last + 1, kept);
        return at(
            last + 1,
            format!("it is cut off at the end: {cut} missing, and {name} holds them"),
        );
    }
    if kept < own.first {
        // The seam is all that connects the two: the oldest pages that the operator dropped end where the first that is left begins.
        let mut stored = source.entries.iter().filter(|stored| stored.chain() == own.chain);
        let first = stored.find(|stored| number(&stored.entry) == Some(own.first));
        let before = first.map(|stored| text(&stored.entry, "previousHash"));
        if kept + 1 < own.first {
            let between = numbers(kept + 1, own.first - 1);
            let why = format!(
                "nothing connects it with {name}, which ends at {kept}: {between} held by nobody"
            );
            return at(own.first, why);
        }
        if before != Some(other.last.1.as_str()) {
            return at(
                own.first,
                format!("entry {} does not follow the last one in {name}", own.first),
            );
        }
    }
    (other.first < own.first && !is_dropped_from(own)).then(|| {
        let cut = numbers(other.first, own.first - 1);
        let why = format!("it is cut off at the beginning: {cut} missing, and {name} holds them");
        Break { number: Some(other.first), page: Some(page_of(other.first)), why }
    })
}

fn hashes<'a>(source: &'a Source, chain: &str) -> Hashes<'a> {
    let own = source.entries.iter().filter(|stored| stored.chain() == chain);
    let hashes = own.filter_map(|Stored { entry, .. }| Some((number(entry)?, text(entry, "hash"))));
    hashes.collect()
}
