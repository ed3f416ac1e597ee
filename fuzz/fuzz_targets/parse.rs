//! Can any text make a parser panic, or read otherwise than it prints?

#![no_main]

#[path = "../../crates/schedule/tests/oracle/bodies/parse.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::run(bytes));
