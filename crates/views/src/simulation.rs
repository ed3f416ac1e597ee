//! When would each change start and finish, and which pool never gets there? What `core::simulate` found, shown.

pub mod items;
pub mod picture;
pub mod spoken;
pub mod table;
pub mod updates;
pub mod words;
