//! Evicting a pod, as far as its budgets allow; binding one to a node.

use http::StatusCode;
use serde_json::{Value, json};

use super::{delete, intake};
use crate::{
    admission,
    call::{Answer, Call},
    disruption, meta,
    status::Refusal,
    store::Happening,
};

pub(crate) fn evict(call: &mut Call<'_>) -> Answer {
    let bytes = call.incoming.body.clone();
    let eviction = intake::body(&bytes, call.incoming.content_type(), "Eviction")?;
    let stored = call.existing()?;
    let pod = stored.value();
    let name = meta::name(&pod).to_owned();
    let wanted = meta::name(&eviction);
    if !wanted.is_empty() && wanted != name {
        let why = format!("name in URL does not match name in Eviction object: {wanted}");
        return Err(Refusal::bad_request(why));
    }
    let nothing = Value::Null;
    let options = delete::Options::read(eviction.get("deleteOptions").unwrap_or(&nothing), call)?;
    admission::admit(call, admission::Verb::Evict, Some(&eviction), None)?;
    if !disruption::is_exempt(&pod) {
        spend(call, &pod, options.is_dry_run())?;
    }
    // The deletion itself is judged again as a deletion, as on the real server.
    let (_, _) = delete::remove(call, &stored, &options)?;
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(call.respond(StatusCode::CREATED, status.to_string().into()))
}

/// Takes one disruption from the budget that covers the pod.
fn spend(call: &mut Call<'_>, pod: &Value, dry_run: bool) -> Result<(), Refusal> {
    let namespace = meta::namespace(pod).to_owned();
    let budgets = disruption::covering(call.state, &namespace, pod);
    let mut budget = match budgets.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        _ => {
            let why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(Refusal::new(500, "InternalError", why));
        }
    };
    let number =
        |key: &str| meta::at(&budget, &["status", key]).and_then(Value::as_i64).unwrap_or_default();
    let name = meta::name(&budget).to_owned();
    let unhealthy_may_go = meta::text_at(&budget, &["spec", "unhealthyPodEvictionPolicy"])
        == "AlwaysAllow"
        || number("currentHealthy") >= number("desiredHealthy") && number("desiredHealthy") > 0;
    if !disruption::is_ready(pod) && unhealthy_may_go {
        return Ok(());
    }
    let refuse = |message: String| {
        Refusal::new(
            429,
            "TooManyRequests",
            "Cannot evict pod as it would violate the pod's disruption budget.",
        )
        .with_details(json!({"causes": [{"reason": "DisruptionBudget", "message": message}]}))
    };
    let generation = meta::field(&budget, "generation").and_then(Value::as_i64).unwrap_or_default();
    if number("observedGeneration") < generation {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(refuse(why).with_retry_after(10));
    }
    if number("disruptionsAllowed") <= 0 {
        return Err(refuse(format!(
            "The disruption budget {name} needs {} healthy pods and has {} currently",
            number("desiredHealthy"),
            number("currentHealthy")
        )));
    }
    if dry_run {
        return Ok(());
    }
    let left = number("disruptionsAllowed") - 1;
    let stamp = call.stamp();
    let status = meta::entry(&mut budget, "status");
    status.insert("disruptionsAllowed".into(), left.into());
    let disrupted = status.entry("disruptedPods").or_insert_with(|| json!({}));
    if let Some(map) = disrupted.as_object_mut() {
        map.insert(meta::name(pod).to_owned(), stamp.into());
    }
    call.state.commit(&"poddisruptionbudgets".into(), Happening::Modified, &mut budget);
    Ok(())
}

/// Puts a pod on a node, as a scheduler does.
pub(crate) fn bind(call: &mut Call<'_>) -> Answer {
    let bytes = call.incoming.body.clone();
    let binding = intake::body(&bytes, call.incoming.content_type(), "Binding")?;
    let mut pod = call.existing()?.value();
    let name = meta::name(&pod).to_owned();
    let node = meta::text_at(&binding, &["target", "name"]).to_owned();
    if node.is_empty() {
        return Err(Refusal::bad_request("a binding names its node in target.name"));
    }
    if meta::is_deleting(&pod) {
        let why = format!("pod {name} is being deleted, cannot be assigned to a host");
        return Err(Refusal::conflict("pods/binding", "", &name, &why));
    }
    let bound = meta::text_at(&pod, &["spec", "nodeName"]);
    if !bound.is_empty() {
        let why = format!("pod {name} is already assigned to node {bound:?}");
        return Err(Refusal::conflict("pods/binding", "", &name, &why));
    }
    meta::entry(&mut pod, "spec").insert("nodeName".into(), node.into());
    let shelf = std::sync::Arc::clone(&call.kind.ty.shelf);
    call.state.commit(&shelf, Happening::Modified, &mut pod);
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(call.respond(StatusCode::CREATED, status.to_string().into()))
}
