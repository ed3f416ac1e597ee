//! Are two contents the same? A short text that says so.
//!
//! SHA-256, cut to 128 bits, which is the length upstream's names have. Upstream takes MD5 over YAML; only the shape of a name has to
//! be kept, and with MD5 whoever may write a `MachineConfig` could make two contents that share one name.

use std::fmt::Write as _;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// How many bytes of the digest are kept: 32 hexadecimal digits.
const LENGTH: usize = 16;

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
    let full = Sha256::digest(&bytes);
    let mut text = String::with_capacity(2 * LENGTH);
    for byte in full.iter().take(LENGTH) {
        write!(text, "{byte:02x}").expect("a String takes any text");
    }
    Digest { text, size: bytes.len() }
}
