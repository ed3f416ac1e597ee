//! May this write happen?
//!
//! Policies and in-process hooks look at the object as it would be stored, with the writer's own `managedFields` entry
//! already stamped: whatever compares the server's time with a permit depends on that order.

use std::sync::Arc;

use kube::core::{
    DynamicObject, GroupVersionKind, GroupVersionResource,
    admission::{AdmissionRequest, AdmissionResponse, Operation},
    metadata::TypeMeta,
};
use serde_json::Value;

use crate::{call::Call, meta, server::Server, status::Refusal};

mod bound;
mod compiled;
mod matching;
pub(crate) mod policy;
mod question;

pub(crate) use bound::Cache;
pub(crate) use matching::Rules;
pub use question::{Known, Question, Write};

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Create,
    /// With the subresource, or the empty string.
    Update(&'static str),
    Delete,
    /// Creation of an eviction.
    Evict,
}

impl Verb {
    pub(crate) fn operation(self) -> &'static str {
        match self {
            Self::Create | Self::Evict => "CREATE",
            Self::Update(_) => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    pub(crate) fn subresource(self) -> &'static str {
        match self {
            Self::Create | Self::Delete => "",
            Self::Update(sub) => sub,
            Self::Evict => "eviction",
        }
    }
}

/// Which writes a hook looks at. `*` stands for any; `nodes/status` names a subresource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRule {
    /// API groups; the core group is the empty string.
    pub groups: Vec<String>,
    /// Plural names, with an optional subresource.
    pub resources: Vec<String>,
    /// `CREATE`, `UPDATE`, `DELETE`.
    pub operations: Vec<String>,
}

/// The function of a hook: the same request and response that the HTTPS webhook serves.
pub type Judge = dyn Fn(&AdmissionRequest<DynamicObject>) -> AdmissionResponse + Send + Sync;

/// A validating webhook without the network.
#[derive(Clone)]
pub struct Hook {
    name: String,
    rules: Vec<HookRule>,
    judge: Arc<Judge>,
}

impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hook")
            .field("name", &self.name)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

impl Hook {
    /// A hook that is asked about every write that `rules` match. It is called while the server holds its lock: it must
    /// decide from the request alone.
    pub fn new(
        name: impl Into<String>,
        rules: Vec<HookRule>,
        judge: impl Fn(&AdmissionRequest<DynamicObject>) -> AdmissionResponse + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), rules, judge: Arc::new(judge) }
    }
}

/// The hooks in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hooks(Vec<Hook>);

impl Server {
    /// Adds a validating hook.
    pub fn add_hook(&self, hook: Hook) {
        self.inner.lock().hooks.0.push(hook);
    }
}

/// Asks every policy and hook; the first refusal ends it.
pub(crate) fn admit(
    call: &mut Call<'_>,
    verb: Verb,
    object: Option<&Value>,
    old: Option<&Value>,
) -> Result<(), Refusal> {
    policy::admit(call, verb, object, old)?;
    let hooks: Vec<Hook> = {
        let ty = &call.kind.ty;
        let wanted = |hook: &&Hook| {
            hook.rules.iter().any(|r| matching::hook(r, &ty.group, &ty.plural, verb))
        };
        call.state.hooks.0.iter().filter(wanted).cloned().collect()
    };
    if hooks.is_empty() {
        return Ok(());
    }
    let request = request(call, verb, object, old)?;
    for hook in hooks {
        let response = (hook.judge)(&request);
        call.warnings.extend(response.warnings.clone().unwrap_or_default());
        if !response.allowed {
            return Err(denied(&hook.name, &response));
        }
        if response.patch.is_some() {
            let what = format!("mutating hooks ({:?} returned a patch)", hook.name);
            return Err(Refusal::unsupported(500, "InternalError", &what));
        }
    }
    Ok(())
}

fn denied(hook: &str, response: &AdmissionResponse) -> Refusal {
    let by = format!("admission webhook {hook:?} denied the request");
    let message = if response.result.message.is_empty() {
        format!("{by} without explanation")
    } else {
        format!("{by}: {}", response.result.message)
    };
    let code = if (400..500).contains(&response.result.code) { response.result.code } else { 403 };
    let reason = match code {
        401 => "Unauthorized",
        404 => "NotFound",
        409 => "Conflict",
        422 => "Invalid",
        429 => "TooManyRequests",
        _ => "Forbidden",
    };
    Refusal::new(code, reason, message)
}

fn request(
    call: &mut Call<'_>,
    verb: Verb,
    object: Option<&Value>,
    old: Option<&Value>,
) -> Result<AdmissionRequest<DynamicObject>, Refusal> {
    let ty = &call.kind.ty;
    let subject = object.or(old);
    let typed = |value: Option<&Value>| -> Result<Option<DynamicObject>, Refusal> {
        value.map(|v| serde_json::from_value(v.clone())).transpose().map_err(|e| {
            Refusal::new(500, "InternalError", format!("the object cannot be shown to hooks: {e}"))
        })
    };
    let version = call.kind.version.name.clone();
    let kind = GroupVersionKind {
        group: ty.group.clone(),
        version: version.clone(),
        kind: ty.kind.clone(),
    };
    let resource = GroupVersionResource::gvr(&ty.group, &version, &ty.plural);
    let sub = Some(verb.subresource().to_owned()).filter(|s| !s.is_empty());
    let name = call
        .path
        .name
        .clone()
        .unwrap_or_else(|| subject.map(meta::name).unwrap_or_default().to_owned());
    Ok(AdmissionRequest {
        types: TypeMeta {
            api_version: "admission.k8s.io/v1".into(),
            kind: "AdmissionReview".into(),
        },
        uid: call.state.ids.uid(),
        kind: kind.clone(),
        resource: resource.clone(),
        sub_resource: sub.clone(),
        request_kind: Some(kind),
        request_resource: Some(resource),
        request_sub_resource: sub,
        name,
        namespace: call.path.namespace.clone(),
        operation: match verb {
            Verb::Create | Verb::Evict => Operation::Create,
            Verb::Update(_) => Operation::Update,
            Verb::Delete => Operation::Delete,
        },
        user_info: call.user.shown(),
        object: typed(object)?,
        old_object: typed(old)?,
        dry_run: call.query.dry_run()?,
        options: None,
    })
}
