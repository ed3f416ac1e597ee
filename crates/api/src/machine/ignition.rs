//! What may stand in `spec.config` of a `MachineConfig`? The part of an Ignition 3 configuration that a running node can take on.
//!
//! Lists keep the order they were written in, and nothing is written that was not given, so that equal contents are equal bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{is_default, or_default};

/// An Ignition configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Ignition {
    /// The version of the format.
    pub ignition: Version,
    /// Users.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "or_default")]
    pub passwd: Passwd,
    /// Files.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "or_default")]
    pub storage: Storage,
    /// Units.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "or_default")]
    pub systemd: Systemd,
}

/// The version of the format.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Version {
    /// Such as `3.5.0`.
    pub version: String,
}

/// Users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Passwd {
    /// Only `core` can be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub users: Vec<User>,
}

/// A user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct User {
    /// The name: `core`.
    pub name: String,
    /// The hash of the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_hash: Option<String>,
    /// The keys that may log in.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub ssh_authorized_keys: Vec<String>,
}

/// Files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Storage {
    /// The files, one for each path.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub files: Vec<File>,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct File {
    /// Where it lies: an absolute path.
    pub path: String,
    /// Who owns it; root, if not said.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "or_default")]
    pub user: Owner,
    /// Which group owns it; root, if not said.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "or_default")]
    pub group: Owner,
    /// Whether it may replace a file that is there. It always may; the field is taken for the sake of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overwrite: Option<bool>,
    /// What it holds.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "or_default")]
    pub contents: Contents,
    /// Its permissions, as a decimal number: 420 is 0644.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 4095))]
    pub mode: Option<u32>,
}

/// An owner, by number or by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Owner {
    /// The number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Contents {
    /// A data URL: `data:,text%20here` or `data:;base64,dGV4dA==`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Systemd {
    /// The units, one for each name.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub units: Vec<Unit>,
}

/// A unit of systemd.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Unit {
    /// The name, with its suffix: `example.service`.
    pub name: String,
    /// Whether it starts by itself; left as it is, if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether it must never start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<bool>,
    /// The text of the unit; none if only drop-ins are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<String>,
    /// Additions to the unit, one for each name.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub dropins: Vec<Dropin>,
}

/// An addition to a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Dropin {
    /// The name, which ends in `.conf`.
    pub name: String,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<String>,
}
