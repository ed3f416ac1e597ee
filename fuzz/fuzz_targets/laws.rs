//! Is the algebra an algebra, and do all queries tell the same story?

#![no_main]

#[path = "../../crates/schedule/tests/oracle/bodies/laws.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::run(bytes));
