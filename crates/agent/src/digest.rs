//! By which name is a content known? Its SHA-256, in hexadecimal.

use sha2::{Digest as _, Sha256};

/// The digest of a content.
pub fn of(content: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(content) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Enough of the digest to tell a handful of names apart.
pub fn short(content: &[u8]) -> String {
    let mut text = of(content);
    text.truncate(16);
    text
}
