//! Can a change of `registries.conf` disturb workloads that run? Not if it only adds mirrors that serve by digest: an image that is
//! named by its digest is the same from wherever it comes (NDP-1, the action `Special`).

use toml::{Table, Value};

/// Whether the only differences are added mirrors that serve by digest, in entries that were there or in new ones, and further
/// registries at the end of those that are searched. A text that cannot be read is a difference of unknown kind.
pub fn only_mirrors_added(before: &str, after: &str) -> bool {
    let (Ok(before), Ok(after)) = (before.parse::<Table>(), after.parse::<Table>()) else {
        return false;
    };
    same_but(&before, &after, &["registry", "unqualified-search-registries"])
        && search_extended(&before, &after)
        && registries_extended(&before, &after)
}

fn search_extended(before: &Table, after: &Table) -> bool {
    let searched = |table: &Table| {
        let list = table.get("unqualified-search-registries").and_then(Value::as_array);
        list.cloned().unwrap_or_default()
    };
    searched(after).starts_with(&searched(before))
}

fn registries_extended(before: &Table, after: &Table) -> bool {
    let (before, after) = (tables(before, "registry"), tables(after, "registry"));
    let kept = before.iter().all(|old| {
        let new = after.iter().find(|new| scope(new) == scope(old));
        new.is_some_and(|new| same_but(old, new, &["mirror"]) && mirrors_extended(old, new))
    });
    let added = after.iter().filter(|new| before.iter().all(|old| scope(old) != scope(new)));
    kept && added.into_iter().all(is_harmless)
}

/// Which images an entry is about.
fn scope(registry: &Table) -> Option<&str> {
    let text = |key: &str| registry.get(key).and_then(Value::as_str);
    text("prefix").filter(|prefix| !prefix.is_empty()).or(text("location"))
}

/// The old mirrors are all there, in their order, and those that came serve by digest.
fn mirrors_extended(old: &Table, new: &Table) -> bool {
    let before = tables(old, "mirror");
    let mut expected = before.iter().peekable();
    for mirror in tables(new, "mirror") {
        if expected.peek().is_some_and(|next| **next == mirror) {
            expected.next();
        } else if !by_digest(new, &mirror) {
            return false;
        }
    }
    expected.next().is_none()
}

/// A new entry that does nothing but name mirrors by digest.
fn is_harmless(registry: &Table) -> bool {
    let known = ["prefix", "location", "mirror-by-digest-only", "mirror"];
    let plain = registry.keys().all(|key| known.contains(&key.as_str()));
    // A prefix that leads to another location sends pulls elsewhere, by tag too.
    let here = registry.get("location").and_then(Value::as_str) == scope(registry);
    plain && here && tables(registry, "mirror").iter().all(|mirror| by_digest(registry, mirror))
}

fn by_digest(registry: &Table, mirror: &Table) -> bool {
    registry.get("mirror-by-digest-only").and_then(Value::as_bool) == Some(true)
        || mirror.get("pull-from-mirror").and_then(Value::as_str) == Some("digest-only")
}

fn tables(table: &Table, key: &str) -> Vec<Table> {
    let list = table.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_table).cloned().collect()
}

fn same_but(before: &Table, after: &Table, keys: &[&str]) -> bool {
    let rest = |table: &Table| {
        let mut rest = table.clone();
        rest.retain(|key, _| !keys.contains(&key));
        rest
    };
    rest(before) == rest(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = r#"
unqualified-search-registries = ["a.io", "b.io"]
short-name-mode = ""

[[registry]]
  prefix = ""
  location = "quay.io/one"
  mirror-by-digest-only = true
  [[registry.mirror]]
    location = "m1.example/one"
"#;

    fn check(change: impl Fn(String) -> String, safe: bool) {
        let after = change(BASE.to_owned());
        assert_eq!(only_mirrors_added(BASE, &after), safe, "{after}");
    }

    /// NDP-1
    #[test]
    fn only_added_mirrors_by_digest_are_safe() {
        let with = |more: &'static str| move |text: String| text + more;
        let replaced = |from: &'static str, to: &'static str| {
            move |text: String| {
                assert!(text.contains(from));
                text.replace(from, to)
            }
        };
        check(|text| text, true);
        check(with("  [[registry.mirror]]\n    location = \"m2.example/one\"\n"), true);
        check(
            replaced(
                "  [[registry.mirror]]",
                "  [[registry.mirror]]\n    location = \"m0\"\n  [[registry.mirror]]",
            ),
            true,
        );
        check(replaced("\"b.io\"]", "\"b.io\", \"c.io\"]"), true);
        check(replaced("\"a.io\", \"b.io\"", "\"b.io\", \"a.io\""), false);
        check(replaced("\"a.io\", ", ""), false);
        check(replaced("short-name-mode = \"\"", "short-name-mode = \"enforcing\""), false);
        check(replaced("m1.example", "m2.example"), false);
        check(replaced("  [[registry.mirror]]\n    location = \"m1.example/one\"\n", ""), false);
        check(replaced("mirror-by-digest-only = true", "mirror-by-digest-only = false"), false);
        check(
            replaced(
                "mirror-by-digest-only = true",
                "mirror-by-digest-only = true\n  blocked = true",
            ),
            false,
        );
        let entry = "[[registry]]\n  location = \"quay.io/two\"\n";
        check(
            move |text| {
                text + entry
                    + "  mirror-by-digest-only = true\n  [[registry.mirror]]\n  location = \"m\"\n"
            },
            true,
        );
        check(
            move |text| {
                text + entry
                    + "  [[registry.mirror]]\n  location = \"m\"\n  pull-from-mirror = \"digest-only\"\n"
            },
            true,
        );
        check(move |text| text + entry + "  [[registry.mirror]]\n  location = \"m\"\n", false);
        check(move |text| text + entry + "  blocked = true\n", false);
        check(move |text| text + entry + "  prefix = \"docker.io\"\n", false);
        check(|_| String::new(), false);
        check(|_| "not = [toml".into(), false);
        assert!(!only_mirrors_added("not = [toml", "not = [toml"));
    }
}
