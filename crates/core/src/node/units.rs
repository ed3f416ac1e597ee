//! Is this the name of a systemd unit?

/// What a unit may be: the suffixes of systemd.
const SUFFIXES: &[&str] = &[
    "service",
    "socket",
    "device",
    "mount",
    "automount",
    "swap",
    "target",
    "path",
    "timer",
    "snapshot",
    "slice",
    "scope",
];

/// The longest name systemd takes.
const LONGEST: usize = 255;

/// Whether a text is the name of a unit, templates and their instances included.
pub(crate) fn is_unit_name(name: &str) -> bool {
    has_stem(name, |character| character == '@' || is_plain(character))
}

/// Whether a disruption policy may name the unit: upstream has no `@` there, so instances of templates cannot be named.
pub(crate) fn is_policy_unit_name(name: &str) -> bool {
    has_stem(name, is_plain)
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, ':' | '.' | '_' | '\\' | '-')
}

fn has_stem(name: &str, allowed: impl Fn(char) -> bool) -> bool {
    name.len() <= LONGEST
        && name.rsplit_once('.').is_some_and(|(stem, suffix)| {
            !stem.is_empty() && stem.chars().all(allowed) && SUFFIXES.contains(&suffix)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NDP-1
    #[test]
    fn policies_name_fewer_units_than_machines_have() {
        let check = |name: &str, unit: bool, policy: bool| {
            assert_eq!((is_unit_name(name), is_policy_unit_name(name)), (unit, policy), "{name}");
        };
        check("crio.service", true, true);
        check("a.b.timer", true, true);
        check("getty@tty1.service", true, false);
        check("getty@.service", true, false);
        check(".service", false, false);
        check("crio", false, false);
        check("crio.conf", false, false);
        check("../x.service", false, false);
        check(&format!("{}.service", "a".repeat(248)), false, false);
    }
}
