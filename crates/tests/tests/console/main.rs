//! Does the console show what is so, and keep out whom it must? Over real sockets, and in a real browser.

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

mod access;
mod browser;
mod editor;
mod http;
mod in_cluster;
mod stand;
