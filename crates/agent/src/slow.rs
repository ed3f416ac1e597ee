//! Who learns that a program of the host takes long? Whoever looks at the node (NODE-3).
//!
//! The agent itself waits for the program, so a thread of its own tells the cluster, with a connection of its own. Both are there from the
//! first program that takes long; most agents never need them. What it writes is a remark beside the work: if it cannot be written, or
//! somebody else has just written the node, it is left out.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use api::{
    kinds,
    machine::names::{NodeState, REASON, STATE},
};
use runtime::{
    call::{CallError, Cluster, Patch},
    chain::chain,
    client,
    clock::SystemClock,
    path::Resource,
    telemetry::Telemetry,
};
use serde_json::{Value, json};

use crate::{
    host::linux::Wait,
    node::{NodeView, OWNER},
};

/// Tells the cluster of programs that take long.
#[derive(Debug)]
pub struct Teller {
    node: String,
    kubeconfig: Option<PathBuf>,
    line: Mutex<Option<Sender<Wait>>>,
}

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a reason begins that is about a program: one that begins otherwise is not taken back.
const BEGINNING: &str = "waiting for `";

impl Teller {
    /// For the node of this name, in the cluster that a kubeconfig names.
    pub fn new(node: &str, kubeconfig: Option<PathBuf>) -> Self {
        Self { node: node.to_owned(), kubeconfig, line: Mutex::default() }
    }

    /// Passes it on, and waits for nothing.
    pub fn tell(&self, wait: Wait) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = line.get_or_insert_with(|| {
            let (sender, receiver) = mpsc::channel();
            let (node, kubeconfig) = (self.node.clone(), self.kubeconfig.clone());
            let thread = thread::Builder::new().name("teller".into());
            // Without a thread nobody is told; the work goes on.
            let _ = thread.spawn(move || listen(&node, kubeconfig.as_deref(), &receiver));
            sender
        });
        let _ = sender.send(wait);
    }
}

fn listen(node: &str, kubeconfig: Option<&Path>, line: &Receiver<Wait>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    for wait in line {
        tracing::info!(?wait, "a program of the host takes long");
        let told = runtime.block_on(async {
            // Each time anew: minutes lie between them, and tokens change.
            let config = client::configuration(kubeconfig).await?;
            let client = client::connect(config)?;
            let telemetry = Arc::new(Telemetry::default());
            let cluster = Cluster::new(client, Arc::new(SystemClock), telemetry, PATIENCE);
            write(&cluster, node, &wait).await.map_err(anyhow::Error::from)
        });
        if let Err(error) = told {
            tracing::warn!(why = chain(error.as_ref()), "the cluster does not hear");
        }
    }
}

/// Writes the remark, if there is something to write.
pub async fn write(cluster: &Cluster, node: &str, wait: &Wait) -> Result<(), CallError> {
    let path = Resource::of(&kinds::NODE).object(None, node);
    let found: Value = cluster.get(&path).await?;
    let Some(annotations) = remark(&NodeView::of(&found), wait) else { return Ok(()) };
    // By the version, so that it never undoes what the agent itself has said meanwhile.
    let version = found.pointer("/metadata/resourceVersion");
    let change = json!({"metadata": {"resourceVersion": version, "annotations": annotations}});
    cluster.patch(&path, Patch::merge(OWNER, &change)).await.map(drop)
}

fn remark(node: &NodeView, wait: &Wait) -> Option<Value> {
    match wait {
        Wait::Long { command, most } => {
            let reason = format!(
                "{BEGINNING}{command}`, which takes long; it is killed if it does not end within {} s",
                most.as_secs()
            );
            let reason = crate::node::printable(&reason);
            Some(json!({STATE: NodeState::Working.as_str(), REASON: reason}))
        }
        Wait::Over => {
            let reason = node.reason.as_deref().unwrap_or_default();
            reason.starts_with(BEGINNING).then(|| json!({REASON: ""}))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NODE-3
    #[test]
    fn a_remark_is_made_and_taken_back_and_leaves_other_reasons_alone() {
        let node = |reason: &str| NodeView { reason: Some(reason.into()), ..NodeView::default() };
        let long = Wait::Long {
            command: "systemctl restart -- hang.service".into(),
            most: Duration::from_mins(10),
        };
        let said = "waiting for `systemctl restart -- hang.service`, which takes long; it is killed if it does not end within 600 s";
        assert_eq!(remark(&node(""), &long), Some(json!({STATE: "Working", REASON: said})));
        assert_eq!(remark(&node(said), &Wait::Over), Some(json!({REASON: ""})));
        assert_eq!(remark(&node("disk full"), &Wait::Over), None);
        assert_eq!(remark(&node(""), &Wait::Over), None);
    }
}
