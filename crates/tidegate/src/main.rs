//! The one command.

fn main() {}
