//! What can a stranger make a front do? No more than this.

use std::time::Duration;

/// The bounds of a front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// So many connections at once; whoever comes then waits to be accepted.
    pub at_once: usize,
    /// So many of them from one address, so that one stranger cannot take all the room. Not few, because many may come through one
    /// address: that of a load balancer, or of the node that forwards for a Service.
    pub from_one_address: usize,
    /// A client that does not greet or send its headers in this time is let go.
    pub hello: Duration,
    /// From the first byte to the last: a megabyte, slowly.
    pub whole: Duration,
    /// What the head of a request may be long: a path, and a token of a few kilobytes.
    pub longest_request: usize,
    /// How long those who are being answered may take when the front ends. Kubernetes gives a pod 30 seconds in all.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            at_once: 64,
            from_one_address: 32,
            hello: Duration::from_secs(10),
            whole: Duration::from_mins(2),
            longest_request: 32 * 1024,
            farewell: Duration::from_secs(5),
        }
    }
}
