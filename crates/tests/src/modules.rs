//! Do the modules of a crate form circles? Arrows between crates descend (LAYER-1), and so should those inside them.
//!
//! An arrow goes from one module of a crate's top to another that it names by `crate::` or `super::`; what is below a module counts as
//! that module, and tests do not count. Circles that stand today are listed: the list may lose names, and never gains one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Finding, Tree};

/// The circles that stand today, each with the modules in it. Whoever takes a module out of a circle takes it off this list.
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
    ("core", &["gate", "pending", "pool", "seen"]),
    ("operator", &["metrics", "node_config", "run", "serve"]),
    ("rig", &["cluster", "pki", "users"]),
    ("rig", &["module", "programs"]),
    ("runtime", &["call", "telemetry"]),
    ("schedule", &["days", "recurrence", "rrule"]),
    ("schedule", &["schedule", "set"]),
];

/// Every circle that is not on the list, and every name on the list that is in no circle.
pub fn check(tree: &Tree) -> Vec<Finding> {
    check_against(tree, KNOTS)
}

fn check_against(tree: &Tree, knots: &[(&str, &[&str])]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let crates = crates(tree);
    for (name, arrows) in &crates {
        for circle in circles(arrows) {
            let listed = knots.iter().filter(|(of, _)| of == name);
            let known = listed.into_iter().any(|(_, knot)| circle.iter().all(|m| knot.contains(m)));
            if !known {
                let circle = circle.into_iter().collect::<Vec<_>>().join(", ");
                findings.push(Finding::of(
                    &format!("crates/{name}/src"),
                    format!(
                        "the modules {circle} need each other: move what two of them need down"
                    ),
                ));
            }
        }
    }
    for (name, knot) in knots {
        let found = crates.get(name).map(circles).unwrap_or_default();
        let idle = knot.iter().filter(|m| !found.iter().any(|circle| circle.contains(*m)));
        findings.extend(idle.map(|module| {
            let file = format!("crates/{name}/src/{module}.rs");
            Finding::of(&file, "is in no circle any more: take it off the list of circles")
        }));
    }
    findings
}

type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The arrows between the modules at the top of each crate.
fn crates(tree: &Tree) -> BTreeMap<&str, Arrows<'_>> {
    let mut crates: BTreeMap<&str, Arrows<'_>> = BTreeMap::new();
    for (path, text) in tree.ending(".rs") {
        let Some((name, file)) = path.strip_prefix("crates/").and_then(|p| p.split_once("/src/"))
        else {
            continue;
        };
        let parts: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
        let [module, ..] = parts.as_slice() else { continue };
        if ["lib", "main"].contains(module) || parts.contains(&"tests") {
            continue;
        }
        let named = named(text, parts.len());
        crates.entry(name).or_default().entry(module).or_default().extend(named);
    }
    for arrows in crates.values_mut() {
        let modules: BTreeSet<&str> = arrows.keys().copied().collect();
        for (module, named) in arrows {
            named.retain(|other| other != module && modules.contains(other));
        }
    }
    crates
}

/// What a file at a depth names of the top of its crate, modules or not.
fn named(text: &str, depth: usize) -> Vec<&str> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    behind(code, &["crate::", &"super::".repeat(depth)])
}

/// What a code names behind any of some beginnings of paths.
pub(crate) fn behind<'a>(code: &'a str, tops: &[&str]) -> Vec<&'a str> {
    let places = tops.iter().flat_map(|top| code.match_indices(*top));
    places
        .filter(|(place, _)| {
            let before = code.get(..*place).unwrap_or_default();
            let line = before.rsplit('\n').next().unwrap_or_default();
            let part_of_more = line.ends_with(|c: char| c.is_alphanumeric() || "_$:".contains(c));
            !part_of_more && !line.trim_start().starts_with("//")
        })
        .filter_map(|(place, top)| code.get(place + top.len()..))
        .flat_map(first_names)
        .collect()
}

/// The first name of a path, or of each path of a list in braces.
fn first_names(rest: &str) -> Vec<&str> {
    let Some(list) = rest.strip_prefix('{') else { return vec![first_name(rest)] };
    let mut depth = 0;
    let inside = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth < 0
    };
    let list = list.split(inside).next().unwrap_or_default();
    let mut depth = 0;
    let between = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0 && c == ','
    };
    list.split(between).map(|path| first_name(path.trim_start())).collect()
}

fn first_name(path: &str) -> &str {
    path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
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
