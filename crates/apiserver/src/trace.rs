//! What happened, in order, in a form that two runs can be compared by?

use std::collections::VecDeque;

use http::StatusCode;

use crate::{
    body::Body,
    call::Incoming,
    store::{Happening, Stored},
};

/// How many lines are kept for people; the hash covers all.
const TAIL: usize = 200;

/// An ordered record of requests, commits and faults.
#[derive(Debug)]
pub(crate) struct Trace {
    hash: u64,
    tail: VecDeque<String>,
}

impl Default for Trace {
    fn default() -> Self {
        Self { hash: OFFSET, tail: VecDeque::new() }
    }
}

const OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01B3;

fn mix(mut hash: u64, bytes: &[u8]) -> u64 {
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    }
    hash
}

/// FNV-1a: stable across processes and platforms, which the standard hasher is not.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    mix(OFFSET, bytes)
}

/// The same, eight bytes at a time: everything that is asked and answered goes through here. What is left of a text counts with its
/// length, so that no two texts are padded to the same.
fn mix_words(mut hash: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    for word in words {
        hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(PRIME).rotate_left(29);
    }
    mix(mix(hash, rest), &[rest.len() as u8])
}

impl Trace {
    fn add(&mut self, line: String, bytes: &[u8]) {
        self.hash = mix_words(mix_words(self.hash, line.as_bytes()), bytes);
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }

    pub(crate) fn request(&mut self, incoming: &Incoming) {
        self.add(format!("> {} {}", incoming.method, incoming.uri), &incoming.body);
    }

    pub(crate) fn response(&mut self, code: StatusCode, body: &Body) {
        let bytes = body.bytes().cloned().unwrap_or_default();
        self.add(format!("< {} {} bytes", code.as_u16(), bytes.len()), &bytes);
    }

    pub(crate) fn commit(&mut self, shelf: &str, happening: Happening, stored: &Stored) {
        self.add(format!("= {} {happening:?} {shelf}", stored.version), &stored.bytes);
    }

    pub(crate) fn fault(&mut self, what: &str) {
        self.add(format!("! {what}"), &[]);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn tail(&self) -> Vec<String> {
        self.tail.iter().cloned().collect()
    }
}
