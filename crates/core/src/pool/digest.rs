//! Are two contents the same? A short text that says so.
//!
//! SHA-256, cut to 128 bits, which is the length upstream's names have. Upstream takes MD5 over YAML; only the shape of a name has to
//! be kept, and with MD5 whoever may write a `MachineConfig` could make two contents that share one name.

use serde::Serialize;

use crate::document::sha256::sha256;

/// How many hexadecimal digits of the digest are kept.
const LENGTH: usize = 32;

/// The digest of a value, and how large the value is.
pub(crate) struct Digest {
    /// 32 hexadecimal digits.
    pub(crate) text: String,
    /// The bytes of the value as JSON.
    pub(crate) size: usize,
}

/// The digest of a value. Wire types write their fields in one order and leave out what was not given, so equal values have equal
/// digests whatever the document looked like.
pub(crate) fn digest(value: &impl Serialize) -> Digest {
    let bytes = serde_json::to_vec(value)
        .expect("wire types have text keys and finite numbers, so they can be written");
    let mut text = sha256(&bytes);
    text.truncate(LENGTH);
    Digest { text, size: bytes.len() }
}
