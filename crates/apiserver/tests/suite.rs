//! The embedded server as its clients see it.

mod suite {
    pub(crate) mod common;

    mod admission;
    mod controller;
    mod deletion;
    mod faults;
    mod front;
    mod ordinary_client;
    mod ownership;
    mod requests;
    mod watching;
}
