//! What does each room hold, and what not? The page of the reference, from the table of rooms (RCH-6).

use std::fmt::Write as _;

use tidegate_core::reach::rooms::{Nudge, ROOMS, SystemNamespaces};

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
    for room in ROOMS {
        let ways: Vec<String> = room
            .offer()
            .into_iter()
            .flat_map(|offer| offer.ways)
            .map(|(_, way)| format!("`{way}`"))
            .collect();
        let _ = write!(text, "\n## {}\n\nHeld is {}.\n\n", room.name_of(), room.held);
        let _ = writeln!(text, "- `how`: {}; the first if nothing is said.", ways.join(", "));
        for write in room.writes {
            let resources: Vec<String> =
                write.resources.iter().map(|resource| format!("`{resource}`")).collect();
            let _ = writeln!(
                text,
                "- The server looks at {} of {} in the group `{}`.",
                write.operations.join(" and "),
                resources.join(" and "),
                write.group
            );
        }
        let system = match room.system {
            SystemNamespaces::LeftAlone => {
                "A gate of the cluster leaves `kube-*`, `openshift-*` and the namespace of the operator alone, unless it names them."
            }
            SystemNamespaces::Held => "A gate of the cluster holds it in every namespace.",
        };
        let _ = writeln!(text, "- {system}");
        let woken = match room.nudge {
            Nudge::Touch { resource, .. } => {
                format!(
                    "When the gate opens, a touch of the object (`{resource}`) has its controller try again."
                )
            }
            Nudge::None(why) => format!("When the gate opens, {why}."),
        };
        let _ = writeln!(text, "- {woken}");
        let _ = writeln!(text, "- Tried with: {}.", room.tried);
        text.push_str("\nNot held:\n\n");
        for item in room.not_held {
            let _ = writeln!(text, "- {item}");
        }
    }
    text
}
