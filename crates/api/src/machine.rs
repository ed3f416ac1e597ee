//! What do the objects look like that say what nodes are made of? `MachineConfig`, its Ignition part, and `MachineConfiguration`
//! with its node disruption policies.
//!
//! `MachineConfigPool` is a resource under change management and stands with those.

pub mod definitions;
pub mod disruption;
pub mod ignition;
pub mod names;

use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{meta::ObjectMeta, schema::schema_of};

/// A piece of configuration for nodes; or, rendered, all pieces of a pool merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct MachineConfig {
    /// The group and version: `machineconfiguration.openshift.io/v1`.
    pub api_version: String,
    /// `MachineConfig`.
    pub kind: String,
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// What nodes are to hold.
    #[serde(default)]
    pub spec: MachineConfigSpec,
}

/// What nodes are to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct MachineConfigSpec {
    /// The operating system, as an image. Empty: the one of the release.
    #[serde(
        default,
        rename = "osImageURL",
        skip_serializing_if = "String::is_empty",
        deserialize_with = "or_default"
    )]
    pub os_image_url: String,
    /// The image that extensions come from. Empty: the one of the release.
    #[serde(
        default,
        rename = "baseOSExtensionsContainerImage",
        skip_serializing_if = "String::is_empty",
        deserialize_with = "or_default"
    )]
    pub extensions_image: String,
    /// Files, units and users, as Ignition 3 writes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_object")]
    pub config: Option<ignition::Ignition>,
    /// Arguments for the kernel, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub kernel_arguments: Vec<String>,
    /// Additional parts of the operating system.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub extensions: Vec<String>,
    /// Whether cryptography follows FIPS 140. Can only be decided when a node is installed.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "or_default")]
    pub fips: bool,
    /// Which kernel: `default`, `realtime` or `64k-pages`.
    #[serde(default, skip_serializing_if = "String::is_empty", deserialize_with = "or_default")]
    pub kernel_type: String,
}

/// The schema of `MachineConfig`.
pub fn machine_config_schema() -> &'static Value {
    crate::kinds::MACHINE_CONFIG.schema()
}

/// The schema of `spec.config` of a `MachineConfig`.
pub fn ignition_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<ignition::Ignition>);
    &SCHEMA
}

/// The schema of `MachineConfiguration`.
pub fn machine_configuration_schema() -> &'static Value {
    crate::kinds::MACHINE_CONFIGURATION.schema()
}

/// The definition in a cluster takes whatever Ignition holds: a server that dropped a field it does not know would turn a refusal
/// into a silent loss.
fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A null is the same as leaving the field out: upstream writes empty lists that way.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    source: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(source)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;
