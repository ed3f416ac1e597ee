//! Does everything hold on a real kube-apiserver too? One program for all suites that need one: it is linked once, and two suites
//! share the node while each waits for its own server.

#![cfg(test)]

mod admin;
mod capi;
mod commit_time;
mod deploy;
mod doors;
mod drain;
mod fields;
mod guardrails;
mod history;
mod kinds;
mod machine;
mod node;
mod node_config;
mod operator;
mod reach;
mod rights;
mod rollout;
mod specs;
mod updates;
mod users;
