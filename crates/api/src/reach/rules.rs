//! What must be so between the fields of a gate? (RCH-11 to RCH-13)

use serde_json::{Value, json};

use super::{OFFERS, Offer};

/// RCH-13: what belongs to the whole cluster is in no namespace, so no team holds it.
pub(super) fn team_rules() -> Value {
    json!([
        {
            "rule": "has(self.changeManagement) != has(self.derivedFrom)",
            "message": "changeManagement is required, unless the operator derived the gate from another object",
            "fieldPath": ".changeManagement",
            "reason": "FieldValueRequired",
        },
        {
            "rule": "!self.holds.exists(hold, hold.what in ['MachineConfigPools', 'ClusterVersion', 'KarpenterDisruption'])",
            "message": "MachineConfigPools, ClusterVersion and KarpenterDisruption belong to the cluster: a ClusterChangeGate holds them",
            "fieldPath": ".holds",
        },
        {
            "rule": "!self.holds.exists(hold, hold.what == 'Custom')",
            "message": "Custom rooms belong to the platform: a ClusterChangeGate holds them",
            "fieldPath": ".holds",
        },
    ])
}

pub(super) fn platform_rules() -> Value {
    json!([
        {
            "rule": "!has(self.changeManagement.byPolicy) || !has(self.changeManagement.byPolicy.kind) || \
                     self.changeManagement.byPolicy.kind == 'ChangeManagementPolicy'",
            "message": "a ClusterChangeGate names a ChangeManagementPolicy: a HostedChangeManagementPolicy belongs to a namespace",
            "fieldPath": ".changeManagement.byPolicy.kind",
        },
        {
            "rule": "!has(self.namespaceSelector) || !self.holds.exists(hold, hold.what in ['MachineConfigPools', 'ClusterVersion', 'KarpenterDisruption'])",
            "message": "MachineConfigPools, ClusterVersion and KarpenterDisruption are in no namespace: hold them without namespaceSelector",
            "fieldPath": ".namespaceSelector",
        },
    ])
}

/// RCH-14: which rooms of somebody's own.
pub(crate) fn custom_rule() -> Value {
    json!({
        "rule": "(self.what == 'Custom') == has(self.rooms)",
        "message": "rooms is required for Custom, where it names rooms of your own, and is for nothing else",
        "fieldPath": ".rooms",
    })
}

/// RCH-12: how what belongs to the whole cluster is chosen.
fn choice_rules() -> [Value; 4] {
    [
        custom_rule(),
        json!({
            "rule": "self.what != 'ClusterVersion' || !has(self.names)",
            "message": "there is one ClusterVersion: leave names out",
            "fieldPath": ".names",
        }),
        json!({
            "rule": "!(self.what in ['MachineConfigPools', 'ClusterVersion', 'KarpenterDisruption']) || !has(self.selector)",
            "message": "selector is for what runs in namespaces: choose MachineConfigPools by names, and KarpenterDisruption by those of its NodePools",
            "fieldPath": ".selector",
        }),
        json!({
            "rule": "self.what != 'MachineConfigPools' || !has(self.names) || !('master' in self.names)",
            "message": "the masters follow ClusterVersion: hold that",
            "fieldPath": ".names",
        }),
    ]
}

pub(super) fn offer_rules() -> Value {
    let quoted = |names: &[&str]| {
        names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
    };
    let ways = |offer: &Offer| {
        let (Offer { name, .. }, ways) = (offer, offer.ways.iter().map(|(_, way)| *way));
        let ways: Vec<&str> = ways.collect();
        json!({
            "rule": format!("self.what != '{name}' || !has(self.how) || self.how in [{}]", quoted(&ways)),
            "message": format!("how must be {} for {name}", ways.join(" or ")),
            "fieldPath": ".how",
        })
    };
    let allows = |offer: &Offer| {
        let (Offer { name, .. }, allows) = (offer, offer.allows.iter().map(|(_, allow)| *allow));
        let allows: Vec<&str> = allows.collect();
        json!({
            "rule": format!("self.what != '{name}' || !has(self.allow) || self.allow.all(option, option in [{}])", quoted(&allows)),
            "message": format!("allow must be of {} for {name}", allows.join(" and ")),
            "fieldPath": ".allow",
        })
    };
    let (with, without): (Vec<&Offer>, Vec<&Offer>) =
        OFFERS.iter().partition(|offer| !offer.allows.is_empty());
    let without: Vec<&str> = without.iter().map(|offer| offer.name).collect();
    let none = json!({
        "rule": format!("!has(self.allow) || !(self.what in [{}])", quoted(&without)),
        "message": "this room lets nothing pass by allow: leave it out",
        "fieldPath": ".allow",
    });
    let rules = OFFERS.iter().map(ways).chain(with.into_iter().map(allows)).chain([none]);
    rules.chain(choice_rules()).collect()
}
