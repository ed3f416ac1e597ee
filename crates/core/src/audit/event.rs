//! What does one event of an audit log (`audit.k8s.io/v1`) say?
//!
//! An event tells of a request that was answered. Whether it holds what was written depends on its level: with `RequestResponse` the object as
//! it was stored, with `Request` what was sent, with `Metadata` neither.

use api::names;
use schedule::Instant;
use serde_json::{Value, json};

/// A write that the API server took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    document: &'a Value,
    /// When the request came in.
    pub(super) at: Instant,
    /// What was done.
    pub(super) deed: Deed,
}

/// What a request did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// It made an object.
    Create,
    /// It changed one.
    Update,
    /// It ended one, or all of a namespace.
    Delete,
}

/// What an event is to whoever looks for first writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Read<'a> {
    /// A write that was taken.
    Write(Event<'a>),
    /// Nothing that could have started anything.
    Passed(Passed),
}

/// Why an event started nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passed {
    /// It is of another stage: the same request is told again when it is answered.
    OtherStage,
    /// Nothing was written.
    Read,
    /// A dry run.
    DryRun,
    /// It failed, for whatever reason.
    Failed,
    /// A gate or a freeze refused it.
    Refused,
}

/// The name of a namespace, and of what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// The API group.
    pub(super) group: &'a str,
    /// The resource.
    pub(super) resource: &'a str,
    /// The subresource, or nothing.
    pub(super) subresource: &'a str,
    /// The namespace, if it is in one.
    pub(super) namespace: Option<&'a str>,
    /// The name; empty where a server was to find one.
    pub(super) name: &'a str,
}

/// Reads an event; the error says which field is missing or wrong.
pub(super) fn read(document: &Value) -> Result<Read<'_>, String> {
    let text = |path: &str| document.pointer(path).and_then(Value::as_str);
    // Another version may mean something else by the same fields.
    if text("/kind") != Some("Event") || text("/apiVersion") != Some("audit.k8s.io/v1") {
        return Err("kind: expected an Event of audit.k8s.io/v1".to_owned());
    }
    let stage = text("/stage").ok_or("stage: it is missing")?;
    if stage != "ResponseComplete" {
        return Ok(Read::Passed(Passed::OtherStage));
    }
    let verb = text("/verb").ok_or("verb: it is missing")?;
    let writes = ["create", "update", "patch", "delete", "deletecollection"];
    // What has no object is a page of the server, such as /version.
    if !writes.contains(&verb) || text("/objectRef/resource").is_none() {
        return Ok(Read::Passed(Passed::Read));
    }
    let at = text("/requestReceivedTimestamp").ok_or("requestReceivedTimestamp: it is missing")?;
    let at = Instant::parse(at).map_err(|error| format!("requestReceivedTimestamp: {error}"))?;
    let code = document.pointer("/responseStatus/code").and_then(Value::as_i64);
    let code = code.ok_or("responseStatus.code: it is missing")?;
    if is_dry_run(text("/requestURI").unwrap_or_default()) {
        return Ok(Read::Passed(Passed::DryRun));
    }
    if code >= 400 {
        let said = text("/responseStatus/message").unwrap_or_default();
        let ours = [
            names::CHANGE_GATE,
            names::CLUSTER_CHANGE_GATE,
            names::CHANGE_FREEZE,
            names::CLUSTER_CHANGE_FREEZE,
        ];
        let refused = ours.iter().any(|kind| said.contains(&format!("held by {kind} ")));
        return Ok(Read::Passed(if refused { Passed::Refused } else { Passed::Failed }));
    }
    let deed = match (verb, code) {
        ("delete" | "deletecollection", _) => Deed::Delete,
        // An apply, or a replacement, of what was not there.
        ("create", _) | (_, 201) => Deed::Create,
        _ => Deed::Update,
    };
    Ok(Read::Write(Event { document, at, deed }))
}

/// Whether a request asks only what would come of it.
fn is_dry_run(uri: &str) -> bool {
    let query = uri.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|pair| pair.split('=').next() == Some("dryRun"))
}

impl<'a> Event<'a> {
    fn text(&self, path: &str) -> Option<&'a str> {
        self.document.pointer(path).and_then(Value::as_str)
    }

    /// What was written to.
    pub(super) fn place(&self) -> Place<'a> {
        let text = |field: &str| self.text(&format!("/objectRef/{field}")).unwrap_or_default();
        let stored = || self.stored().and_then(|object| object.pointer("/metadata/name")?.as_str());
        let name = Some(text("name")).filter(|name| !name.is_empty()).or_else(stored);
        Place {
            group: text("apiGroup"),
            resource: text("resource"),
            subresource: text("subresource"),
            namespace: self.text("/objectRef/namespace").filter(|name| !name.is_empty()),
            name: name.unwrap_or_default(),
        }
    }

    /// Who wrote, as admission knew them: who was impersonated, if anybody was.
    pub(super) fn user(&self) -> &'a str {
        let name = self.text(&format!("/{}/username", self.writer()));
        name.unwrap_or("an unknown user")
    }

    fn writer(&self) -> &'static str {
        let impersonated = self.text("/impersonatedUser/username").is_some();
        if impersonated { "impersonatedUser" } else { "user" }
    }

    fn groups(&self) -> impl Iterator<Item = &'a str> {
        let groups = self.document.pointer(&format!("/{}/groups", self.writer()));
        groups.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// GATE-15: whether the writer passes everything.
    pub(super) fn is_by_hand(&self) -> bool {
        self.groups().any(|group| group == names::INITIATORS)
    }

    /// Its level.
    pub(super) fn level(&self) -> &'a str {
        self.text("/level").unwrap_or("no level")
    }

    /// The number of the request.
    pub(super) fn id(&self) -> &'a str {
        self.text("/auditID").unwrap_or_default()
    }

    /// The object as it was stored, if the event tells. What was sent in order to create is nearly that: what is missing there is what the
    /// server adds. What was sent in order to change something else may be anything.
    pub(super) fn object(&self) -> Option<&'a Value> {
        let sent = || self.document.get("requestObject").filter(|sent| is_object(sent));
        let created = self.deed == Deed::Create && self.text("/verb") == Some("create");
        self.stored().or_else(|| sent().filter(|_| created))
    }

    /// What the server answered, if that is the object.
    pub(super) fn stored(&self) -> Option<&'a Value> {
        self.document.get("responseObject").filter(|stored| is_object(stored))
    }

    /// The variable `request` of admission.
    pub(super) fn request(&self) -> Value {
        let place = self.place();
        let version = self.text("/objectRef/apiVersion").unwrap_or_default();
        let groups: Vec<&str> = self.groups().collect();
        let mut request = json!({
            "resource": {"group": place.group, "version": version, "resource": place.resource},
            "operation": if self.deed == Deed::Create { "CREATE" } else { "UPDATE" },
            "dryRun": false,
            "userInfo": {"username": self.user(), "groups": groups},
        });
        let named = [
            ("name", place.name),
            ("namespace", place.namespace.unwrap_or_default()),
            ("subResource", place.subresource),
        ];
        if let Some(fields) = request.as_object_mut() {
            let given = named.into_iter().filter(|(_, value)| !value.is_empty());
            fields.extend(given.map(|(key, value)| (key.to_owned(), json!(value))));
        }
        request
    }
}

/// Whether an answer is an object of its own: a `Status` says only how a request went.
fn is_object(value: &Value) -> bool {
    value.get("metadata").is_some_and(Value::is_object) && value["kind"] != "Status"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(changes: Value) -> Value {
        let mut event = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete",
            "level": "RequestResponse", "verb": "update", "requestURI": "/x",
            "requestReceivedTimestamp": "2026-11-10T10:00:00.999999Z", "responseStatus": {"code": 200},
            "user": {"username": "alice", "groups": ["devs"]}, "objectRef": {"resource": "deployments"}});
        if let (Some(event), Value::Object(changes)) = (event.as_object_mut(), changes) {
            event.extend(changes);
        }
        event
    }

    #[test]
    fn what_started_nothing_is_told_apart() {
        let check = |changes: Value, passed: Passed| match read(&event(changes)) {
            Ok(Read::Passed(found)) => assert_eq!(found, passed),
            other => panic!("{passed:?}: {other:?}"),
        };
        check(json!({"stage": "RequestReceived"}), Passed::OtherStage);
        check(json!({"stage": "Panic"}), Passed::OtherStage);
        check(json!({"verb": "watch"}), Passed::Read);
        check(json!({"objectRef": null}), Passed::Read);
        check(json!({"requestURI": "/x?fieldManager=y&dryRun=All"}), Passed::DryRun);
        check(json!({"responseStatus": {"code": 409}}), Passed::Failed);
        let held = "denied request: held by ClusterChangeFreeze stop until further notice";
        check(json!({"responseStatus": {"code": 403, "message": held}}), Passed::Refused);
        // Refused, and dry: nothing would have come of it.
        check(
            json!({"responseStatus": {"code": 403}, "requestURI": "/x?dryRun=All"}),
            Passed::DryRun,
        );
    }

    #[test]
    fn what_is_no_event_names_its_field() {
        let check = |changes: Value, field: &str| {
            let error = read(&event(changes)).map(|_| ()).unwrap_err();
            assert!(error.starts_with(field), "{error}");
        };
        check(json!({"kind": "Pod"}), "kind: ");
        check(json!({"apiVersion": "v1"}), "kind: ");
        check(json!({"apiVersion": "audit.k8s.io/v9"}), "kind: ");
        check(json!({"apiVersion": "audit.k8s.io/v1beta1"}), "kind: ");
        check(json!({"stage": null}), "stage: ");
        check(json!({"verb": 1}), "verb: ");
        check(json!({"requestReceivedTimestamp": "soon"}), "requestReceivedTimestamp: ");
        check(json!({"responseStatus": {}}), "responseStatus.code: ");
    }

    #[test]
    fn a_write_is_known_as_admission_knew_it() {
        let deed = |changes: Value| match read(&event(changes)) {
            Ok(Read::Write(event)) => event.deed,
            other => panic!("{other:?}"),
        };
        assert_eq!(deed(json!({})), Deed::Update);
        assert_eq!(deed(json!({"verb": "patch", "responseStatus": {"code": 201}})), Deed::Create);
        assert_eq!(deed(json!({"verb": "deletecollection"})), Deed::Delete);
        let document = event(
            json!({"impersonatedUser": {"username": "bob", "groups": ["tidegate:initiators"]},
            "requestObject": {"metadata": {"name": "sent"}}, "responseObject": {"kind": "Status", "metadata": {}}}),
        );
        let Ok(Read::Write(found)) = read(&document) else { panic!("it is a write") };
        assert_eq!(
            (found.user(), found.is_by_hand(), found.at.to_string().as_str()),
            ("bob", true, "2026-11-10T10:00:00Z")
        );
        assert!(found.object().is_none(), "what was sent to change something may be a patch");
        let document = event(json!({"verb": "create", "responseStatus": {"code": 201},
            "requestObject": {"metadata": {"name": "sent"}}}));
        let Ok(Read::Write(found)) = read(&document) else { panic!("it is a write") };
        assert!(found.object().is_some() && found.stored().is_none());
        assert_eq!(found.request()["operation"], "CREATE");
    }
}
