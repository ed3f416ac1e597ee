//! What do people try who mean harm? Everything that their rights let them send, by every verb and every door, at random instants.
//!
//! The server may refuse it or take it; what it took must have given them nothing, and the checker judges that (GATE-7, GATE-16, DRAIN-2).

use std::sync::Arc;

use api::machine::names::{
    ALLOWED_CONFIG, BEGUN_RELEASE, CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, DRAIN_RECORD,
    LAST_APPLIED_DRAIN, LEDGER, PERMIT_BASIS, PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL, STATE,
};
use apiserver::Service;
use http::Method;
use serde_json::{Map, Value, json};

use super::{
    check::{noted, pool_of},
    dice::Dice,
    intent::instant,
    stage::{By, Kind, Stage, Who},
    world::World,
};

/// Those who mean harm.
pub(crate) struct Strangers {
    dice: Dice,
    world: World,
    /// How often they try something when they come; none: a few times, by chance.
    attempts: Option<i64>,
}

/// How something is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Merge,
    Json,
    Strategic,
    Apply,
    Replace(Stamps),
}

/// What a replacement says about who wrote what and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stamps {
    Kept,
    Forward,
    Back,
    Wiped,
    Removed,
}

const WHO: [Who; 7] = [
    Who::Patcher,
    Who::Patcher,
    Who::StatusOnly,
    Who::StatusOnly,
    Who::Kubelet,
    Who::Agent,
    Who::Tuner,
];
/// The place of whoever has the token of an agent.
const AGENT: usize = 5;
const VERBS: [Verb; 9] = [
    Verb::Merge,
    Verb::Json,
    Verb::Strategic,
    Verb::Apply,
    Verb::Replace(Stamps::Kept),
    Verb::Replace(Stamps::Forward),
    Verb::Replace(Stamps::Back),
    Verb::Replace(Stamps::Wiped),
    Verb::Replace(Stamps::Removed),
];

/// The place of the verb that brings a stamp from ahead.
const FORWARD: usize = 5;

/// A stamp that lies ahead: within the hour that begins next.
pub(crate) fn forward(now: i64) -> i64 {
    (now / 3_600 + 1) * 3_600 + 300
}

impl Strangers {
    pub(crate) fn new(dice: Dice, (attempts, world): (Option<i64>, World)) -> Self {
        Self { dice, world, attempts }
    }

    /// A few attempts.
    pub(crate) fn visit(&mut self, stage: &Stage) {
        let attempts = self.attempts.unwrap_or_else(|| self.dice.of(1..9));
        for _ in 0..attempts {
            let drawn = self.dice.of(0..WHO.len() as i64) as usize;
            match WHO[self.world.stranger(drawn, AGENT)] {
                Who::Tuner => self.tune(stage),
                who => self.strike(stage, who),
            }
        }
    }

    fn node(&mut self, stage: &Stage) -> Option<(String, Arc<Value>)> {
        let checker = stage.checker();
        let nodes: Vec<_> = checker.all(Kind::Node).collect();
        if nodes.is_empty() {
            return None;
        }
        let (name, node) = *self.dice.pick(&nodes);
        Some((name.to_owned(), Arc::clone(node)))
    }

    /// An attempt on a node.
    fn strike(&mut self, stage: &Stage, who: Who) {
        let Some((name, node)) = self.node(stage) else { return };
        // Whoever has the token of one node tries it on others too.
        let own = who != Who::Agent || self.dice.percent(50);
        let service = match who {
            Who::Patcher => stage.server.service_as("eve", &["system:authenticated"]),
            Who::StatusOnly => stage.server.service_as("npd", &["system:authenticated"]),
            Who::Kubelet => stage.kubelet(&name),
            Who::Agent if own => stage.agent(&name),
            Who::Agent | Who::Tuner => stage.agent("elsewhere"),
        };
        if who == Who::Kubelet && self.dice.percent(self.world.registers()) {
            self.register_anew(stage, &service, (&name, &node));
            return;
        }
        let forged = self.forged(stage, (&name, &node), (who, own));
        let status = match who {
            Who::Patcher | Who::Agent | Who::Tuner => false,
            Who::StatusOnly => true,
            Who::Kubelet => self.dice.percent(50),
        };
        let path = format!("{}{}", Kind::Node.of(&name), if status { "/status" } else { "" });
        let verb = match who {
            // The role of an agent has no other.
            Who::Agent => *self.dice.pick(&[Verb::Merge, Verb::Json, Verb::Strategic, Verb::Apply]),
            _ => VERBS[self.world.verb(self.dice.of(0..VERBS.len() as i64) as usize, FORWARD)],
        };
        stage.checker().attempts += 1;
        if self.send(stage, &service, (&path, verb), (Kind::Node, &name), forged) {
            stage.note(By::Stranger(who), Kind::Node, &name);
        }
    }

    /// Annotations that somebody would like a node to have; null takes one away.
    fn forged(
        &mut self,
        stage: &Stage,
        (name, node): (&str, &Value),
        (who, own): (Who, bool),
    ) -> Map<String, Value> {
        let now = stage.now();
        let config = self.wanted(stage, node);
        let mut forged = Map::new();
        let mut put = |key: &str, value: Value| drop(forged.insert(key.to_owned(), value));
        let permit = |put: &mut dyn FnMut(&str, Value)| {
            put(PERMIT_UNTIL, json!(instant(now + 300)));
            put(PERMIT_FROM, json!(instant(now - 300)));
            put(PERMIT_BASIS, json!("window"));
        };
        match self.world.trick(self.dice.of(0..14)) {
            0 | 1 => {
                put(DESIRED_CONFIG, json!(config));
                put(PERMIT_CHANGE, json!(config));
                permit(&mut put);
            }
            2 => put(DESIRED_CONFIG, json!(config)),
            3 => {
                // A node that joins with what it runs starts nothing.
                put(DESIRED_CONFIG, json!(config));
                if who != Who::Agent {
                    put(CURRENT_CONFIG, json!(config));
                    put(STATE, json!("Done"));
                }
            }
            // Away now, and back another time.
            4 => put(DESIRED_CONFIG, Value::Null),
            5 => {
                put(PERMIT_CHANGE, json!(config));
                permit(&mut put);
            }
            6 => put(PERMIT_CHANGE, Value::Null),
            7 => put(BEGUN_RELEASE, json!("9.9.9")),
            // Consent is for people; one who writes nodes is one.
            8 if who == Who::Kubelet || who == Who::Agent => put(ALLOWED_CONFIG, json!(config)),
            8 | 9 => put(DESIRED_DRAIN, json!(format!("drain-{config}"))),
            10 => put(DESIRED_DRAIN, json!(format!("drain-{}", noted(node, CURRENT_CONFIG)))),
            11 if !own || who != Who::Agent => {
                put(LAST_APPLIED_DRAIN, json!(noted(node, DESIRED_DRAIN)));
            }
            12 => {
                let record = json!({"since": instant(now), "cordonedBefore": false}).to_string();
                put(DRAIN_RECORD, json!(record));
            }
            // Nothing but the stamps.
            _ => put("example.com/note", json!(format!("{name} at {now}"))),
        }
        forged
    }

    /// Where somebody would like a node to go.
    fn wanted(&mut self, stage: &Stage, node: &Value) -> String {
        let checker = stage.checker();
        let pool = checker.get(Kind::Pool, pool_of(node));
        let newest = pool.and_then(|pool| pool["spec"]["configuration"]["name"].as_str());
        let known = checker.all(Kind::Config).map(|(name, _)| name);
        let rendered: Vec<&str> = known.filter(|name| name.starts_with("rendered-")).collect();
        match (self.dice.of(0..4), newest) {
            (0, _) if !rendered.is_empty() => (*self.dice.pick(&rendered)).to_owned(),
            (1, _) => "rendered-evil-0".to_owned(),
            (_, Some(newest)) => newest.to_owned(),
            (_, None) => "rendered-evil-1".to_owned(),
        }
    }

    /// A kubelet removes its node and registers anew, with what it would like to have.
    fn register_anew(&mut self, stage: &Stage, kubelet: &Service, (name, node): (&str, &Value)) {
        let forged = self.forged(stage, (name, node), (Who::Kubelet, true));
        let gone = stage.ask(kubelet, &Method::DELETE, &Kind::Node.of(name), "", &Value::Null);
        if gone.is_err() {
            return;
        }
        let by = By::Stranger(Who::Kubelet);
        stage.note(by, Kind::Node, name);
        let mut bare = json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": node["metadata"]["labels"]}});
        let mut wished = bare.clone();
        let given: Map<String, Value> =
            forged.into_iter().filter(|(_, value)| !value.is_null()).collect();
        wished["metadata"]["annotations"] = Value::Object(given);
        stage.checker().attempts += 1;
        if stage.create_as(kubelet, by, Kind::Node, &wished).is_err() {
            // It has to come back somehow.
            bare["metadata"]["annotations"] = json!({});
            stage.create_as(kubelet, by, Kind::Node, &bare).unwrap();
        }
    }

    /// An attempt on the records of a pool or of the control plane.
    fn tune(&mut self, stage: &Stage) {
        let now = stage.now();
        let (kind, name) = {
            let checker = stage.checker();
            let pools = checker.all(Kind::Pool).map(|(name, _)| (Kind::Pool, name.to_owned()));
            let versions =
                checker.all(Kind::Version).map(|(name, _)| (Kind::Version, name.to_owned()));
            let some: Vec<_> = pools.chain(versions).collect();
            self.dice.pick(&some).clone()
        };
        let machine = self.node(stage);
        let config = machine.as_ref().map(|(_, node)| self.wanted(stage, node)).unwrap_or_default();
        let machine = machine.map(|(name, _)| name).unwrap_or_default();
        let entry = json!([{"node": machine, "config": config, "until": instant(now + 300)}]);
        let ledger = match self.dice.of(0..4) {
            0 => Value::Null,
            1 => json!("[]"),
            2 => json!(entry.to_string()),
            _ => {
                let change = json!({"config": config, "basis": "window", "at": instant(now)});
                json!(json!({"change": change, "nodes": entry}).to_string())
            }
        };
        let release = json!({"release": "9.9.9", "sources": {}, "generated": {}}).to_string();
        let mut forged = Map::new();
        match kind {
            Kind::Pool => forged.insert(LEDGER.to_owned(), ledger),
            _ => forged.insert(BEGUN_RELEASE.to_owned(), json!(release)),
        };
        let status = self.dice.percent(50);
        let path = format!("{}{}", kind.of(&name), if status { "/status" } else { "" });
        let verb = *self.dice.pick(&[
            Verb::Merge,
            Verb::Json,
            Verb::Apply,
            Verb::Replace(Stamps::Kept),
            Verb::Replace(Stamps::Back),
        ]);
        let service = stage.server.service_as("mallory", &["system:authenticated"]);
        stage.checker().attempts += 1;
        if self.send(stage, &service, (&path, verb), (kind, &name), forged) {
            stage.note(By::Stranger(Who::Tuner), kind, &name);
        }
    }

    /// Sends annotations by a verb; whether the server took them.
    fn send(
        &mut self,
        stage: &Stage,
        service: &Service,
        (path, verb): (&str, Verb),
        (kind, name): (Kind, &str),
        forged: Map<String, Value>,
    ) -> bool {
        let found = stage.ask(stage.admin(), &Method::GET, &kind.of(name), "", &Value::Null);
        let Ok(mut object) = found else { return false };
        let (method, path, content, body) = match verb {
            Verb::Merge => {
                let body = json!({"metadata": {"annotations": forged}});
                (Method::PATCH, path.to_owned(), "application/merge-patch+json", body)
            }
            Verb::Strategic => {
                let body = json!({"metadata": {"annotations": forged}});
                (Method::PATCH, path.to_owned(), "application/strategic-merge-patch+json", body)
            }
            Verb::Json => {
                let body = operations(&object, &forged);
                (Method::PATCH, path.to_owned(), "application/json-patch+json", body)
            }
            Verb::Apply => {
                let given: Map<String, Value> =
                    forged.into_iter().filter(|(_, value)| !value.is_null()).collect();
                let body = json!({"apiVersion": object["apiVersion"], "kind": object["kind"],
                    "metadata": {"name": name, "annotations": given}});
                let manager = *self.dice.pick(&["eve", "tidegate-rollout", "tidegate"]);
                let path = format!("{path}?fieldManager={manager}&force=true");
                (Method::PATCH, path, "application/apply-patch+yaml", body)
            }
            Verb::Replace(stamps) => {
                let annotations = &mut object["metadata"]["annotations"];
                if !annotations.is_object() {
                    *annotations = json!({});
                }
                for (key, value) in forged {
                    match (value, annotations.as_object_mut()) {
                        (Value::Null, Some(all)) => drop(all.remove(&key)),
                        (value, Some(all)) => drop(all.insert(key, value)),
                        (_, None) => {}
                    }
                }
                stamp(&mut object, stamps, stage.now());
                (Method::PUT, path.to_owned(), "application/json", object)
            }
        };
        stage.ask(service, &method, &path, content, &body).is_ok()
    }
}

fn operations(object: &Value, forged: &Map<String, Value>) -> Value {
    let mut operations = Vec::new();
    if !object["metadata"]["annotations"].is_object() {
        operations.push(json!({"op": "add", "path": "/metadata/annotations", "value": {}}));
    }
    for (key, value) in forged {
        let path = format!("/metadata/annotations/{}", key.replace('/', "~1"));
        match value {
            Value::Null if noted(object, key).is_empty() => {}
            Value::Null => operations.push(json!({"op": "remove", "path": path})),
            value => operations.push(json!({"op": "add", "path": path, "value": value})),
        }
    }
    Value::Array(operations)
}

/// Forges who wrote what, and when.
fn stamp(object: &mut Value, stamps: Stamps, now: i64) {
    let labels = object["metadata"]["labels"].as_object();
    let label = labels.and_then(|labels| labels.keys().next()).cloned().unwrap_or_default();
    let fields = &mut object["metadata"]["managedFields"];
    let redate = |fields: &mut Value, at: &str| {
        for entry in fields.as_array_mut().into_iter().flatten() {
            entry["time"] = json!(at);
        }
    };
    match stamps {
        Stamps::Kept => {}
        Stamps::Forward => {
            // Some lie so far ahead that they never come.
            let ahead = if now % 8 == 0 { now + 50 * 365 * 86_400 } else { forward(now) };
            let entry = json!({"manager": "later", "operation": "Update", "apiVersion": "v1",
                "time": instant(ahead), "fieldsType": "FieldsV1",
                // Of something that nobody writes, or the entry would go with the next who does.
                "fieldsV1": {"f:metadata": {"f:labels": {format!("f:{label}"): {}}}}});
            if let Some(entries) = fields.as_array_mut() {
                entries.push(entry);
            } else {
                *fields = json!([entry]);
            }
        }
        Stamps::Back => redate(fields, "2001-01-01T00:00:00Z"),
        Stamps::Wiped => *fields = json!([{}]),
        Stamps::Removed => *fields = json!([]),
    }
}
