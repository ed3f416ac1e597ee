//! Do the modules of a crate form circles? Arrows between crates descend (LAYER-1), and so should those inside them.
//!
//! An arrow goes from one module to another in the same house, the crate or a folder of modules in it, that it names by `crate::` or
//! `super::`; what is below a module counts as that module, and tests do not count. Circles that stand today are listed: the list may
//! lose names, and never gains one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Finding, Tree};

/// The circles that stand today, each with its house and the modules in it. Whoever takes a module out of a circle takes it off this list.
const KNOTS: &[(&str, &[&str])] = &[
    ("agent", &["accounts", "change", "host", "journal", "layout", "store"]),
    ("api", &["crds", "kinds", "machine", "schema"]),
    (
        "apiserver",
        &[
            "admission",
            "body",
            "call",
            "controllers",
            "disruption",
            "fault",
            "managed",
            "patch",
            "render",
            "server",
            "strategy",
            "table",
            "trace",
            "verbs",
            "watch",
        ],
    ),
    ("apiserver", &["discovery", "route"]),
    ("operator", &["metrics", "node_config", "run", "serve"]),
    ("operator/node_config", &["asker", "own"]),
    ("rig", &["cluster", "pki", "users"]),
    ("rig", &["module", "programs"]),
    ("runtime", &["call", "telemetry"]),
    ("runtime/reconcile", &["act", "execute", "fresh"]),
    (
        "seeds",
        &[
            "cast",
            "check",
            "intent",
            "machines",
            "owner",
            "people",
            "planted",
            "stage",
            "story",
            "strangers",
            "weather",
            "world",
        ],
    ),
    ("schedule", &["days", "recurrence", "rrule"]),
    ("schedule", &["schedule", "set"]),
    ("schedule/window", &["repeat", "spans"]),
];

/// Every circle that is not on the list, and every name on the list that is in no circle.
pub fn check(tree: &Tree) -> Vec<Finding> {
    check_against(tree, KNOTS)
}

fn check_against(tree: &Tree, knots: &[(&str, &[&str])]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let houses = houses(tree);
    for (name, arrows) in &houses {
        for circle in circles(arrows) {
            let listed = knots.iter().filter(|(of, _)| of == name);
            let known = listed.into_iter().any(|(_, knot)| circle.iter().all(|m| knot.contains(m)));
            if !known {
                let circle = circle.into_iter().collect::<Vec<_>>().join(", ");
                findings.push(Finding::of(
                    &folder(name),
                    format!(
                        "the modules {circle} need each other: move what two of them need down"
                    ),
                ));
            }
        }
    }
    for (name, knot) in knots {
        let found = houses.get(*name).map(circles).unwrap_or_default();
        let idle = knot.iter().filter(|m| !found.iter().any(|circle| circle.contains(*m)));
        findings.extend(idle.map(|module| {
            let file = format!("{}/{module}.rs", folder(name));
            Finding::of(&file, "is in no circle any more: take it off the list of circles")
        }));
    }
    findings
}

/// The subjects of `core` that the agent may name: its node, and documents, which every subject rests on.
const OF_AGENTS: [&str; 2] = ["document", "node"];

/// Everything else that the agent names of `core`: it is root on hosts, and what it links is a statement.
pub fn check_agent(tree: &Tree) -> Vec<Finding> {
    let files = tree.ending(".rs").filter(|(path, _)| path.starts_with("crates/agent/src/"));
    let named = files.flat_map(|(path, text)| {
        behind(text, &["tidegate_core::"]).into_iter().map(move |subject| (path, subject))
    });
    named
        .filter(|(_, subject)| !OF_AGENTS.contains(subject))
        .map(|(path, subject)| {
            Finding::of(path, format!("names core's {subject}: an agent needs its node alone"))
        })
        .collect()
}

/// Where a house stands.
fn folder(house: &str) -> String {
    let (name, below) = house.split_once('/').unwrap_or((house, ""));
    format!("crates/{name}/src/{below}").trim_end_matches('/').to_owned()
}

type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The arrows between the modules of each house.
fn houses(tree: &Tree) -> BTreeMap<String, Arrows<'_>> {
    let mut houses: BTreeMap<String, Arrows<'_>> = BTreeMap::new();
    for (path, text) in tree.ending(".rs") {
        let Some((name, file)) = path.strip_prefix("crates/").and_then(|p| p.split_once("/src/"))
        else {
            continue;
        };
        let module: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
        if ["lib", "main"].contains(&module[0]) || module.contains(&"tests") {
            continue;
        }
        let named = named(text, &module);
        let mut house = name.to_owned();
        for (depth, part) in module.iter().enumerate() {
            let above = &module[..depth];
            let neighbours = named.iter().filter_map(|path| path.strip_prefix(above)?.first());
            houses.entry(house.clone()).or_default().entry(part).or_default().extend(neighbours);
            house = format!("{house}/{part}");
        }
    }
    for arrows in houses.values_mut() {
        let modules: BTreeSet<&str> = arrows.keys().copied().collect();
        for (module, named) in arrows {
            named.retain(|other| other != module && modules.contains(other));
        }
    }
    houses
}

/// What the file of a module names in its own crate, as paths from the crate's top.
fn named<'a>(text: &'a str, module: &[&'a str]) -> Vec<Vec<&'a str>> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut named = paths_behind(code, "crate::");
    for up in 1..=module.len() {
        let above = &module[..module.len() - up];
        let relative = paths_behind(code, &"super::".repeat(up)).into_iter();
        named.extend(relative.map(|path| [above, &path].concat()));
    }
    named
}

/// What a code names behind any of some beginnings of paths.
pub(crate) fn behind<'a>(code: &'a str, tops: &[&str]) -> Vec<&'a str> {
    let paths = tops.iter().flat_map(|top| paths_behind(code, top));
    paths.filter_map(|path| path.first().copied()).collect()
}

/// The paths of a code behind a beginning of paths, each list in braces spelt out.
fn paths_behind<'a>(code: &'a str, top: &str) -> Vec<Vec<&'a str>> {
    let places = code.match_indices(top).filter(|(place, _)| {
        let before = code.get(..*place).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let part_of_more = line.ends_with(|c: char| c.is_alphanumeric() || "_$:".contains(c));
        !part_of_more && !line.trim_start().starts_with("//")
    });
    places
        .filter_map(|(place, top)| code.get(place + top.len()..))
        .flat_map(|rest| paths(rest, &[]))
        .collect()
}

/// The paths that begin here, behind what they have in common.
fn paths<'a>(rest: &'a str, common: &[&'a str]) -> Vec<Vec<&'a str>> {
    let rest = rest.trim_start();
    if let Some(list) = rest.strip_prefix('{') {
        return items(list).into_iter().flat_map(|item| paths(item, common)).collect();
    }
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    let path = [common, &[name]].concat();
    match rest.get(name.len()..).and_then(|after| after.strip_prefix("::")) {
        Some(below) if !name.is_empty() => paths(below, &path),
        _ => vec![path],
    }
}

/// What stands between the commas of a list in braces, up to its end.
fn items(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let ends = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth < 0
    };
    let list = list.split(ends).next().unwrap_or_default();
    let mut depth = 0;
    let between = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0 && c == ','
    };
    list.split(between).filter(|item| !item.trim().is_empty()).collect()
}

/// The modules that reach each other, each circle once.
fn circles<'a>(arrows: &Arrows<'a>) -> Vec<BTreeSet<&'a str>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|module| (*module, reached(arrows, module))).collect();
    let mut circles: Vec<BTreeSet<&str>> = Vec::new();
    for (module, reached) in &reach {
        let together = |other: &&&str| reach.get(**other).is_some_and(|back| back.contains(module));
        let circle: BTreeSet<&str> = reached.iter().filter(together).copied().collect();
        if !circle.is_empty() && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

/// What a module reaches over any number of arrows; itself, if it is in a circle.
fn reached<'a>(arrows: &Arrows<'a>, module: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = vec![module];
    while let Some(one) = next.pop() {
        let further = arrows.get(one).into_iter().flatten().copied();
        next.extend(further.filter(|other| reached.insert(*other)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(files: &[(&str, &str)], knots: &[(&str, &[&str])]) -> usize {
        let files = files.iter().map(|(file, text)| (format!("crates/x/src/{file}"), *text));
        let files: Vec<_> = files.collect();
        let tree = Tree::of(files.iter().map(|(path, text)| (path.as_str(), *text)));
        check_against(&tree, knots).len()
    }

    const A: (&str, &str) =
        ("a.rs", "use std::fmt;\nuse crate::{\n    c,\n    b::{self, d},\n};\n");
    const B: (&str, &str) = ("b/e.rs", "fn f() { super::super::a::g(); }\n");

    #[test]
    fn circles_are_found_however_they_are_written() {
        assert_eq!(count(&[A], &[]), 0);
        assert_eq!(count(&[A, B], &[]), 1);
        assert_eq!(count(&[A, ("b.rs", "use crate::a::g;")], &[]), 1);
        assert_eq!(count(&[A, ("b.rs", "use super::a;")], &[]), 1);
        assert_eq!(
            count(&[A, ("b.rs", "use crate::c;"), ("c.rs", "fn f() { crate::a::g() }")], &[]),
            1
        );
        assert_eq!(count(&[("a.rs", "use super::b;\nuse crate::a;"), ("b.rs", "")], &[]), 0);
    }

    #[test]
    fn circles_below_a_module_are_found_too() {
        let below = [("a/b.rs", "use crate::{z, a::{c::f, y}};"), ("a/c.rs", "fn f() {}")];
        assert_eq!(count(&below, &[]), 0);
        let back = |text| [below[0], ("a/c.rs", text)];
        assert_eq!(count(&back("use super::b;"), &[]), 1);
        assert_eq!(count(&back("use crate::a::b::g;"), &[]), 1);
        assert_eq!(count(&back("use super::super::a::b;"), &[]), 1);
        assert_eq!(count(&back("use super::b;"), &[("x/a", &["b", "c"])]), 0);
        assert_eq!(count(&back("use super::b;"), &[("x", &["b", "c"])]), 3);
    }

    #[test]
    fn an_agent_names_its_node_alone() {
        let count = |path: &str, text: &str| check_agent(&Tree::of([(path, text)])).len();
        let run = "crates/agent/src/run.rs";
        assert_eq!(count(run, "use tidegate_core::node::{around, diff};"), 0);
        assert_eq!(
            count(run, "use tidegate_core::{document::problem::Problem, gate::Gate, pool};"),
            2
        );
        assert_eq!(count(run, "fn f() { tidegate_core::cluster::kinds::of() }"), 1);
        assert_eq!(count("crates/operator/src/run.rs", "use tidegate_core::pool;"), 0);
    }

    #[test]
    fn tests_comments_and_what_is_below_a_module_are_no_arrows() {
        assert_eq!(
            count(&[A, ("b.rs", "// crate::a\n#[cfg(test)]\nmod tests {\n use crate::a;\n}")], &[]),
            0
        );
        assert_eq!(
            count(&[A, ("b/tests.rs", "use crate::a;"), ("b/e.rs", "use super::a;")], &[]),
            0
        );
        assert_eq!(count(&[A, ("b.rs", "use other_crate::a; use x::crate::a;")], &[]), 0);
    }

    #[test]
    fn the_list_of_circles_only_shrinks() {
        assert_eq!(count(&[A, B], &[("x", &["a", "b", "c"])]), 1, "c is in none");
        assert_eq!(count(&[A, B], &[("x", &["a", "b"])]), 0);
        assert_eq!(count(&[A, B], &[("y", &["a", "b"])]), 3, "the list of another crate");
        assert_eq!(count(&[A], &[("x", &["a", "b"])]), 2, "nothing is left of it");
    }
}
