//! What may the agent of a node read? `GET /own/<configuration>`: what its own node needs, and nothing else (NODE-3).
//!
//! A role cannot say "of the pool that this node belongs to", and no admission policy judges reads, so agents have no right to read
//! configurations at the API server; they ask here. The cluster says who asks (`TokenReview`), on which node (a claim of the token, which
//! only the cluster writes) and whether they may ask at all (`SubjectAccessReview`); [`entitled`] says what that node gets.
//!
//! The token is one for this purpose alone: who runs this could not use it anywhere else. The node is read when it is asked for, and so is
//! the configuration: a node that was told a moment ago is not refused. Refusals are told as the API server tells its own.

use api::{kinds, schema::Kind};
use bytes::Bytes;
use front::Answer;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use runtime::{call::CallError, path::Resource};
use serde_json::{Value, json};
use tidegate_core::pool::{entitled, seen::SeenNode, source::SeenConfig};

use super::{NodeConfig, asker::Purpose, is_name};

/// Whom a token is for that an agent asks with.
pub const AUDIENCE: &str = "tidegate-node-config";

/// Why an agent gets nothing.
struct Refused(StatusCode, String);

pub(super) async fn answer(
    service: &NodeConfig,
    config: &str,
    headers: &HeaderMap,
    path: &str,
) -> Answer {
    match given(service, config, headers, path).await {
        Ok(document) => document_of(StatusCode::OK, &document),
        Err(Refused(code, message)) => {
            tracing::info!(config, code = code.as_u16(), message, "an agent was not served");
            let mut response = document_of(
                code,
                &json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                    "reason": code.canonical_reason(), "message": message, "code": code.as_u16()}),
            );
            if code == StatusCode::SERVICE_UNAVAILABLE {
                let wait = HeaderValue::from_static("5");
                response.headers_mut().insert(header::RETRY_AFTER, wait);
            }
            response
        }
    }
}

async fn given(
    service: &NodeConfig,
    config: &str,
    headers: &HeaderMap,
    path: &str,
) -> Result<Value, Refused> {
    let asker = service.asker(headers, path, Purpose::Own).await;
    let asker = asker.map_err(|refusal| Refused(refusal.code(), refusal.text()))?;
    let forbidden = |message: String| Refused(StatusCode::FORBIDDEN, message);
    let later = |message: String| Refused(StatusCode::SERVICE_UNAVAILABLE, message);
    let Some(node) = asker.node().filter(|node| is_name(node)) else {
        let name = &asker.0.name;
        return Err(forbidden(format!(
            "the token of {name} does not say on which node it is used; hint: ask with the token of an agent's pod"
        )));
    };
    service
        .view
        .knows()
        .map_err(|why| later(format!("this replica is not ready: {why}; ask again in a moment")))?;
    let read = async |kind: &Kind, name: &str| {
        let (what, path) = (format!("{}/{name}", kind.name), Resource::of(kind).object(None, name));
        let read = service.cluster.get::<Value>(&path).await;
        read.map_err(|error| match error {
            CallError::Refused { code: 404, .. } => {
                Refused(StatusCode::NOT_FOUND, format!("there is no {what}"))
            }
            error => later(format!("the operator cannot read {what} now: {error}")),
        })
    };
    let machine = read(&kinds::NODE, node).await?;
    let document = read(&kinds::MACHINE_CONFIG, config).await?;
    let rendered = match SeenConfig::new(&document) {
        SeenConfig::Rendered(rendered) => Some(rendered.pool),
        SeenConfig::Source(_) => None,
    };
    let machine = SeenNode::new(&machine);
    let refusal = {
        let store = service.view.caches.store();
        let home = store.snapshot().membership(&machine);
        entitled::refusal(&machine, &home, config, rendered.as_deref())
    };
    if let Some(refusal) = refusal {
        return Err(forbidden(refusal.to_string()));
    }
    tracing::info!(config, node, "an agent is served");
    Ok(json!({
        "apiVersion": document["apiVersion"], "kind": document["kind"],
        "metadata": {"name": config}, "spec": document["spec"],
    }))
}

fn document_of(code: StatusCode, document: &Value) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(document.to_string())));
    *response.status_mut() = code;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
