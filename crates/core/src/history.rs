//! What happened, and did anybody rewrite it? An append-only record, in which each entry carries the hash of the one before (HIST-1).
//!
//! The history of a namespace is one chain of entries, kept in pages ([`pages`]). It is not written along with what happens: what has happened is
//! read from the cluster ([`facts`]), from stretches in statuses, marks on nodes and control planes, freezes and overrides, and whatever of that is
//! not recorded yet is appended ([`due`]). So an operator that dies between a change and its entry loses nothing: the
//! mark is still there when the next one looks, and is recorded once.
//!
//! Tamper-evident, not tamper-proof: whoever may write pages and knows how hashes are made can make a new chain. Whoever kept an entry of the
//! old one, or only its hash, sees it ([`verify`]).

pub mod chain;
pub mod due;
pub mod facts;
pub mod pages;
pub mod verify;
pub mod wanted;

#[cfg(test)]
mod tests;
