//! Do the embedded server and a real one answer alike? One program for all suites that compare them: it is linked once, and two suites
//! share the node while each waits for its own server.

#![cfg(test)]

mod bad_input;
mod kubectl;
mod ownership;
mod random;
mod rules;
