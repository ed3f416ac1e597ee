//! What is a new machine given to ignite with? The rendered configuration that the canary rule chose (POOL-4), and the annotations it
//! joins with: it runs what it was given, and has nothing left to do.

use api::machine::{
    ignition::{Contents, File, Ignition},
    names::{CURRENT_CONFIG, DESIRED_CONFIG, NodeState, STATE},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::source::Rendered;

/// Where the agent finds the annotations of its first start.
pub const ANNOTATIONS_FILE: &str = "/etc/machine-config-daemon/node-annotations.json";

/// Where first boot finds the whole configuration, with what Ignition has no word for: kernel, extensions, image.
pub const ENCAPSULATED_FILE: &str = "/etc/ignition-machine-config-encapsulated.json";

/// The Ignition document for a new machine.
pub fn ignition(config: &Rendered) -> Value {
    let mut ignition = config.spec.config.clone().unwrap_or_default();
    let annotations = json!({
        CURRENT_CONFIG: config.name,
        DESIRED_CONFIG: config.name,
        STATE: NodeState::Done.as_str(),
    });
    let encapsulated = json!({
        "apiVersion": api::machine::names::API_VERSION,
        "kind": api::machine::names::MACHINE_CONFIG,
        "metadata": {"name": config.name},
        "spec": config.spec,
    });
    put(&mut ignition, ANNOTATIONS_FILE, &annotations);
    put(&mut ignition, ENCAPSULATED_FILE, &encapsulated);
    json!(ignition)
}

/// A file in place of one that a source may have written there.
fn put(ignition: &mut Ignition, path: &str, content: &Value) {
    let files = &mut ignition.storage.files;
    files.retain(|file| file.path != path);
    files.push(File {
        path: path.to_owned(),
        mode: Some(0o600),
        overwrite: Some(true),
        contents: Contents {
            source: Some(format!("data:;base64,{}", STANDARD.encode(content.to_string()))),
        },
        ..File::default()
    });
}
