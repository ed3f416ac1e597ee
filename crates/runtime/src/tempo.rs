//! How patient is everything? Every length of time and every bound of the runtime, as one value.
//!
//! The numbers are judgement calls, so each says why. Simulations of years slow down what only talks.

use std::time::Duration;

/// Lengths and bounds.
#[derive(Clone, Copy, Debug)]
pub struct Tempo {
    /// How long one call may take. The client has no limit of its own: an answer that never comes would keep an object waiting for
    /// ever (EXEC-4).
    pub call: Duration,
    /// How long the server keeps a watch open; with [`Tempo::grace`] this bounds how long a dead connection goes unnoticed.
    pub watch: Duration,
    /// How much longer than that a watch may say nothing.
    pub grace: Duration,
    /// After how long a silence the server is asked whether nothing was missed of policies and of what names them. A watch that says
    /// nothing looks like a cluster in which nothing happens, and servers send bookmarks once a minute or less: so a hold that was
    /// written behind a dead watch is seen after this long, and after twice or thrice as long if the first answers are old ones or
    /// none, which is still within 65 seconds (GATE-11).
    pub silence: Duration,
    /// The same for nodes and configurations, which close no gate and are larger. Nodes are heard of all the time; a bookmark, where
    /// servers send one, spares the rest.
    pub silence_of_parts: Duration,
    /// How often it is tried whether the server refuses a change that nobody permitted (GATE-13).
    pub proof: Duration,
    /// How often it is looked whether an admission policy or a binding changed, after which it is tried again: a policy that was taken
    /// away or weakened counts for nothing after twice as long, which is within 65 seconds (GATE-13).
    pub policies: Duration,
    /// How often the store is asked whether it went back in time.
    pub freshness: Duration,
    /// From which age on a cache is stale, and starts nothing: longer than the longer silence and a failed call after it.
    pub stale: Duration,
    /// How often a kind that is not served is asked for.
    pub absent: Duration,
    /// How often everything is decided anew from the caches, for whatever no event and no edge told.
    pub recompute: Duration,
    /// How often an idle loop shows that it is alive.
    pub beat: Duration,
    /// From which silence on a loop counts as stuck: several beats, and longer than one call.
    pub stuck: Duration,
    /// The first delay after a failure; it doubles.
    pub retry: Duration,
    /// The longest delay after failures that pass by themselves.
    pub retry_at_most: Duration,
    /// The longest delay after refusals that last until somebody acts, such as a definition that prunes what was written.
    pub refused_at_most: Duration,
    /// How many writes travel at once: enough to keep a server busy, few enough to leave it air.
    pub writes: usize,
    /// How many objects one page of a list holds; it bounds the memory of a list.
    pub page: u32,
    /// The lease of the leader.
    pub lease: LeaseTempo,
}

/// Leader election: the numbers of the Kubernetes controllers, with which another takes over within 20 seconds.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTempo {
    /// How long a lease that nobody renews is respected.
    pub length: Duration,
    /// How long a leader goes on without a renewal; shorter, so that the old one has stopped before a new one starts.
    pub renewal: Duration,
    /// How often the lease is renewed or looked at.
    pub look: Duration,
}

impl Default for Tempo {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            call: seconds(10),
            watch: seconds(60),
            grace: seconds(5),
            silence: seconds(20),
            silence_of_parts: seconds(60),
            proof: seconds(300),
            policies: seconds(30),
            freshness: seconds(30),
            stale: seconds(90),
            absent: seconds(15),
            recompute: seconds(300),
            beat: seconds(5),
            stuck: seconds(60),
            retry: Duration::from_millis(500),
            retry_at_most: seconds(30),
            refused_at_most: seconds(300),
            writes: 16,
            page: 500,
            lease: LeaseTempo { length: seconds(15), renewal: seconds(10), look: seconds(2) },
        }
    }
}
