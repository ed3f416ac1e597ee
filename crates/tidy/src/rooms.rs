//! What does each room hold, and what not? The page of the reference, from the table of rooms (RCH-6).

use std::fmt::Write as _;

use api::{names, schema::Scope};
use tidegate_core::reach::rooms::{Nudge, SystemNamespaces, Targets, Waits, known};

/// How the core group is written in a rule of the server.
const CORE: &str = "\"\"";

/// The page.
pub fn reference() -> String {
    let mut text = String::from(
        "# Rooms\n\n\
         Generated from the table in `crates/core/src/reach/rooms`; edit that instead.\n\n\
         A `ChangeGate` or `ClusterChangeGate` lists in `holds` what it holds.\n\
         Each entry names a room, and a room knows the one write by which a stock controller begins a change.\n\
         The API server refuses that write outside the windows of the gate, by its own clock; [the guide](../guides/hold-what-you-have.md) shows how.\n\
         A `ChangeFreeze` or `ClusterChangeFreeze` holds the same writes while it lasts, for everything or for the rooms that its `holds` lists, always in the first way.\n",
    );
    for room in known() {
        let ways: Vec<String> = room
            .offer()
            .into_iter()
            .flat_map(|offer| offer.ways)
            .map(|(_, way)| format!("`{way}`"))
            .collect();
        let _ = write!(text, "\n## {}\n\nHeld is {}.\n\n", room.name_of(), room.held);
        let _ = writeln!(text, "- `how`: {}; the first if nothing is said.", ways.join(", "));
        let allows: Vec<String> = room
            .offer()
            .into_iter()
            .flat_map(|offer| offer.allows)
            .map(|(_, allow)| format!("`{allow}`"))
            .collect();
        if !allows.is_empty() {
            let _ = writeln!(
                text,
                "- `allow`: {}; nothing of it if nothing is said.",
                allows.join(", ")
            );
        }
        for write in room.writes {
            let resources: Vec<String> =
                write.resources.iter().map(|resource| format!("`{resource}`")).collect();
            let _ = writeln!(
                text,
                "- The server looks at {} of {} in the {}.",
                write.operations.join(" and "),
                resources.join(" and "),
                if write.group == CORE {
                    "core group".to_owned()
                } else {
                    format!("group `{}`", write.group)
                }
            );
        }
        if let Some((key, value)) = room.marked {
            let label = value.map_or_else(|| key.to_owned(), |value| format!("{key}={value}"));
            let _ = writeln!(text, "- It looks only at those with the label `{label}`.");
        }
        let system = match room.system {
            _ if room.scope() == Scope::Cluster => {
                "A gate of the cluster without `namespaceSelector` holds it, and no gate of a namespace."
            }
            SystemNamespaces::LeftAlone => {
                "A gate of the cluster leaves `kube-*`, `openshift-*` and the namespace of the operator alone, unless it names them."
            }
            SystemNamespaces::Held => "A gate of the cluster holds it in every namespace.",
        };
        let _ = writeln!(text, "- {system}");
        let woken = match room.nudge {
            Nudge::Touch { resource, asks, .. } => {
                let asks = asks.map(|(key, value)| format!(" and `{key}: {value}`"));
                format!(
                    "When the gate opens, the operator writes the annotation `changemanagement.openshift.io/nudged-at`{} of `{resource}` where \
                     something waits, and its controller tries again.",
                    asks.unwrap_or_default()
                )
            }
            Nudge::None(why) => format!("When the gate opens, {why}."),
        };
        let _ = writeln!(text, "- {woken}");
        let counted = match room.targets {
            Some(Targets { kind, waits: Waits::Told, .. }) => format!(
                "The status of a gate tells how many `{}` it holds, and which of them wait.",
                names::plural(kind.name)
            ),
            Some(Targets { kind, waits: Waits::Never, .. }) => {
                format!(
                    "The status of a gate tells how many `{}` it holds.",
                    names::plural(kind.name)
                )
            }
            None => match room.gated {
                Some(kind) => format!(
                    "The status of a gate tells how many `{}` it holds, and which of them wait.",
                    names::plural(kind.name)
                ),
                None => "The status of a gate counts nothing of it.".to_owned(),
            },
        };
        let _ = writeln!(text, "- {counted}");
        let _ = writeln!(text, "- Tried with: {}.", room.tried);
        text.push_str("\nNot held:\n\n");
        for item in room.not_held {
            let _ = writeln!(text, "- {item}");
        }
    }
    text
}
