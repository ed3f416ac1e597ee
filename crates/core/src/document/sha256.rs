//! The SHA-256 of some bytes, as a text.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// 64 hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(digits, "{byte:02x}").expect("a String takes any text");
    }
    digits
}
