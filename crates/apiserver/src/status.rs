//! How does the server say no?
//!
//! Every refusal is a Kubernetes `Status` with the code, reason, details and wording of the real server, because clients
//! branch on them. What only this server cannot do is said in its own name ([`Refusal::unsupported`]).

use serde_json::{Value, json};

/// How the server calls itself wherever it refuses something that a full API server would do.
pub const SERVER_NAME: &str = "the embedded Tidegate API server";

/// One violated field, as it stands in `details.causes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// `FieldValueInvalid`, `FieldValueRequired`, ...
    pub reason: &'static str,
    /// `spec.replicas`.
    pub field: String,
    /// What is wrong, without the field in front.
    pub message: String,
}

impl Cause {
    /// `Invalid value: <value>: <detail>`.
    pub(crate) fn invalid(field: impl Into<String>, value: &str, detail: &str) -> Self {
        let message = if detail.is_empty() {
            format!("Invalid value: {value}")
        } else {
            format!("Invalid value: {value}: {detail}")
        };
        Self { reason: "FieldValueInvalid", field: field.into(), message }
    }

    /// `Required value`, with an optional explanation.
    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        let message = if detail.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {detail}")
        };
        Self { reason: "FieldValueRequired", field: field.into(), message }
    }

    /// `Unsupported value: <value>: supported values: ...`.
    pub(crate) fn not_supported(field: impl Into<String>, value: &str, options: &[&str]) -> Self {
        let list: Vec<String> = options.iter().map(|o| format!("{o:?}")).collect();
        let message = format!("Unsupported value: {value}: supported values: {}", list.join(", "));
        Self { reason: "FieldValueNotSupported", field: field.into(), message }
    }

    /// `Duplicate value: <value>`.
    pub(crate) fn duplicate(field: impl Into<String>, value: &str) -> Self {
        let message = format!("Duplicate value: {value}");
        Self { reason: "FieldValueDuplicate", field: field.into(), message }
    }

    /// `Forbidden: <detail>`.
    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self {
            reason: "FieldValueForbidden",
            field: field.into(),
            message: format!("Forbidden: {detail}"),
        }
    }

    fn line(&self) -> String {
        format!("{}: {}", self.field, self.message)
    }
}

/// A refusal: everything that the `Status` object and the HTTP status line need.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// HTTP status.
    pub code: u16,
    /// Machine-readable reason, such as `NotFound`.
    pub reason: &'static str,
    /// For people.
    pub message: String,
    /// Boxed: refusals are the error of nearly every function, and most have none.
    details: Option<Box<Value>>,
    retry_after: Option<u32>,
}

impl Refusal {
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None, retry_after: None }
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    pub(crate) fn with_retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        let details = self.details.get_or_insert_with(|| Box::new(json!({})));
        if let Some(map) = details.as_object_mut() {
            map.insert("retryAfterSeconds".into(), seconds.into());
        }
        self
    }

    /// Seconds for the `Retry-After` header.
    pub(crate) fn retry_after(&self) -> Option<u32> {
        self.retry_after
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// The named object does not exist.
    pub(crate) fn not_found(resource: &str, group: &str, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} \"{name}\" not found", qualified(resource, group)))
            .with_details(details(name, group, resource))
    }

    /// The path leads nowhere.
    pub(crate) fn no_such_path() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
            .with_details(json!({}))
    }

    /// Not even an API path: what the real server says in plain text.
    pub(crate) fn no_such_page() -> Self {
        Self::new(404, "", "404 page not found")
    }

    /// What the real server says when it is caught unprepared: 500 without a reason.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// Whether this is said in plain text.
    pub(crate) fn is_page(&self) -> bool {
        self.code == 404 && self.reason.is_empty()
    }

    /// Options in the query that are not valid.
    pub(crate) fn options(kind: &str, cause: &Cause) -> Self {
        Self::invalid(kind, "meta.k8s.io", "", std::slice::from_ref(cause))
    }

    /// A verb that a custom kind does not have there.
    pub(crate) fn verb_not_supported(verb: &str, resource: &str, group: &str) -> Self {
        let text = format!(
            "{verb} is not supported on resources of kind \"{}\"",
            qualified(resource, group)
        );
        Self::new(405, "MethodNotAllowed", text).with_details(details("", group, resource))
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
        .with_details(json!({}))
    }

    pub(crate) fn already_exists(resource: &str, group: &str, name: &str) -> Self {
        Self::new(
            409,
            "AlreadyExists",
            format!("{} \"{name}\" already exists", qualified(resource, group)),
        )
        .with_details(details(name, group, resource))
    }

    pub(crate) fn conflict(resource: &str, group: &str, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{name}\": {why}",
            qualified(resource, group)
        );
        Self::new(409, "Conflict", message).with_details(details(name, group, resource))
    }

    pub(crate) fn modified(resource: &str, group: &str, name: &str) -> Self {
        Self::conflict(
            resource,
            group,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    pub(crate) fn forbidden(resource: &str, group: &str, name: &str, why: &str) -> Self {
        let what = qualified(resource, group);
        let message = if name.is_empty() {
            format!("{what} is forbidden: {why}")
        } else {
            format!("{what} \"{name}\" is forbidden: {why}")
        };
        Self::new(403, "Forbidden", message).with_details(details(name, group, resource))
    }

    /// The object breaks rules: 422 with every violation.
    pub(crate) fn invalid(kind: &str, group: &str, name: &str, causes: &[Cause]) -> Self {
        let mut lines: Vec<String> = Vec::new();
        for line in causes.iter().map(Cause::line) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let text = match lines.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("{} \"{name}\" is invalid: {text}", qualified(kind, group));
        let causes: Vec<Value> = causes
            .iter()
            .map(|c| json!({"reason": c.reason, "message": c.message, "field": c.field}))
            .collect();
        let mut found = details(name, group, kind);
        if let Some(map) = found.as_object_mut() {
            map.insert("causes".into(), Value::Array(causes));
        }
        Self::new(422, "Invalid", message).with_details(found)
    }

    /// The history that the client asks for is no longer kept.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    pub(crate) fn unsupported_media(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// Something that a full API server does and this one does not: said plainly, in its own name.
    pub(crate) fn unsupported(code: u16, reason: &'static str, what: &str) -> Self {
        Self::new(code, reason, format!("{SERVER_NAME} does not support {what}"))
            .with_details(json!({}))
    }

    /// The `Status` object.
    pub fn to_value(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code,
        });
        if let Some(map) = status.as_object_mut() {
            if self.reason.is_empty() {
                map.remove("reason");
            }
            if let Some(details) = &self.details {
                map.insert("details".into(), (**details).clone());
            }
        }
        status
    }
}

/// `configmaps`, or `policies.example.com` outside the core group.
pub(crate) fn qualified(resource: &str, group: &str) -> String {
    if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") }
}

pub(crate) fn details(name: &str, group: &str, kind: &str) -> Value {
    let mut map = serde_json::Map::new();
    for (key, value) in [("name", name), ("group", group), ("kind", kind)] {
        if !value.is_empty() {
            map.insert(key.to_owned(), value.into());
        }
    }
    Value::Object(map)
}
