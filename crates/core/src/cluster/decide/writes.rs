//! How does what a pool is to have done to it read as writes? One arm for each effect.
//!
//! - GATE-7, GATE-16: what starts a change is a server-side apply with the permit's end, its window's start and the record of the change
//!   beside it.
//! - GATE-16: a node is told to stay where it is by an apply as well: what is then ordered has another owner, to whom this one yields.

use api::{kinds, machine::names};
use schedule::Instant;
use serde_json::{Value, json};

use crate::{
    document::key::Key,
    gate::{
        Permit,
        action::{Action, Initiation, Owner, Refused, Reserved, Right, Write},
        change::ChangeId,
        note::{Note, Weight},
    },
    pool::{Effect, ledger::Ledger, update::Record},
};

/// The writes that bring these effects about, in their order. `pool` is the pool, and `ledger` its ledger as it was seen.
pub(super) fn writes(effects: Vec<Effect>, pool: &Key, ledger: &Ledger) -> Vec<Action> {
    let planned = effects.iter().find_map(|effect| match effect {
        Effect::WriteLedger { ledger, .. } => Some(ledger.clone()),
        _ => None,
    });
    let reserved = |node: &str| {
        let written = ledger.get(node);
        let stays = planned.as_ref().is_none_or(|planned| planned.get(node) == written);
        if written.is_some() && stays { Reserved::Written } else { Reserved::ByThisPlan }
    };
    effects.into_iter().map(|effect| write(effect, pool, &reserved)).collect()
}

fn write(effect: Effect, pool: &Key, reserved: &dyn Fn(&str) -> Reserved) -> Action {
    match effect {
        Effect::CreateRendered(document) => {
            let name = document.pointer("/metadata/name").and_then(Value::as_str);
            let target = Key::new(&kinds::MACHINE_CONFIG, None, name.unwrap_or_default());
            Action::upkeep(target, Write::Create(*document))
        }
        Effect::RecordSources { name, resource_version, digests } => {
            let change = json!({"metadata": {
                "resourceVersion": resource_version,
                "annotations": {names::SOURCE_DIGESTS: digests},
            }});
            let target = Key::new(&kinds::MACHINE_CONFIG, None, &name);
            Action::upkeep(target, Write::MergePatch(change))
        }
        Effect::SetConfiguration(operations) | Effect::WriteLedger { operations, .. } => {
            Action::upkeep(pool.clone(), Write::JsonPatch(operations))
        }
        Effect::SetDesiredConfig { node, uid, resource_version, config, until, permit } => {
            let mut annotations = json!({
                names::DESIRED_CONFIG: config,
                names::PERMIT_UNTIL: until.to_string(),
                names::PERMIT_BASIS: permit.basis().to_string(),
                names::PERMIT_CHANGE: config,
            });
            if let Some(opened) = permit.opened() {
                annotations[names::PERMIT_FROM] = opened.to_string().into();
            }
            let document = document((&node, &uid, &resource_version), &annotations);
            let initiation = Initiation {
                note: initiated(&node, &config, (&permit, until)),
                permit,
                until,
                change: ChangeId::rendered(&config),
                uid,
                reserved: reserved(&node),
            };
            Action {
                right: Right::Initiates(Box::new(initiation)),
                ..of_node(&node, Write::Apply(Owner::Initiator, document))
            }
        }
        Effect::Adopt { node, uid, resource_version, config } => {
            let annotations = json!({names::DESIRED_CONFIG: config});
            let document = document((&node, &uid, &resource_version), &annotations);
            of_node(&node, Write::Apply(Owner::Upkeep, document))
        }
        Effect::Note { node, uid, resource_version, annotations } => {
            let change = json!({"metadata": {
                "uid": uid,
                "resourceVersion": resource_version,
                "annotations": annotations,
            }});
            of_node(&node, Write::MergePatch(change))
        }
        Effect::RecordRelease { name, resource_version, record } => {
            let change = json!({"metadata": {
                "resourceVersion": resource_version,
                "annotations": {names::BEGUN_RELEASE: record.as_ref().map(Record::text)},
            }});
            let target = Key::new(&kinds::CLUSTER_VERSION, None, &name);
            Action::upkeep(target, Write::MergePatch(change))
        }
    }
}

/// A write to a node. Nodes are worlds of their own: one that the server refuses to touch is passed over (LIVE-3).
fn of_node(name: &str, write: Write) -> Action {
    let refused = Refused::ConcernsTheTargetAlone;
    Action { refused, ..Action::upkeep(Key::new(&kinds::NODE, None, name), write) }
}

/// The document that is applied to write these annotations to a node, seen by this name, uid and version.
fn document((name, uid, resource_version): (&str, &str, &str), annotations: &Value) -> Value {
    json!({
        "apiVersion": kinds::NODE.api_version,
        "kind": kinds::NODE.name,
        "metadata": {
            "name": name,
            "uid": uid,
            "resourceVersion": resource_version,
            "annotations": annotations,
        },
    })
}

/// What people are told of every initiation: its basis and its end (GATE-7).
fn initiated(node: &str, config: &str, (permit, until): (&Permit, Instant)) -> Note {
    let basis = permit.basis();
    Note {
        weight: Weight::Normal,
        reason: "SetDesiredConfig",
        message: format!("Node/{node} goes to {config}; basis: {basis}; permit until {until}"),
    }
}

#[cfg(test)]
mod tests;
