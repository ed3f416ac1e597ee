//! How does a patch change an object? One file per dialect.

use crate::status::Refusal;

pub(crate) mod apply;
pub(crate) mod json;
pub(crate) mod merge;
pub(crate) mod strategic;
pub(crate) mod typed;

/// The four patch dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl Dialect {
    /// From the content type; custom kinds do not take strategic patches, as on the real server.
    pub(crate) fn of(content_type: &str, custom: bool) -> Result<Self, Refusal> {
        match content_type {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" if !custom => Ok(Self::Strategic),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ => {
                let mut accepted =
                    "application/json-patch+json, application/merge-patch+json".to_owned();
                if !custom {
                    accepted.push_str(", application/strategic-merge-patch+json");
                }
                accepted.push_str(", application/apply-patch+yaml");
                if !custom {
                    accepted.push_str(", application/apply-patch+cbor");
                }
                Err(Refusal::unsupported_media(format!(
                    "the body of the request was in an unknown format - accepted media types include: {accepted}"
                )))
            }
        }
    }
}
