//! What happens on one machine when its configuration changes?

pub mod content;
