//! How is a sandbox seen in a browser? As any cluster is, and with its clock in people's hands.

use std::{sync::Arc, time::Duration};

use console::{Desk, Dial, Turned};
use runtime::call::Cluster;

use crate::{dial::Turn, sandbox::Sandbox};

/// How long the server may think about one request. It is in this process.
const PATIENCE: Duration = Duration::from_secs(10);

/// What pages about a sandbox are made from, with the rights of an administrator. Somebody has to let it watch.
pub fn desk(sandbox: &Sandbox) -> Desk {
    let clock = Arc::new(sandbox.clock().clone());
    let (dial, turned) = (sandbox.dial().clone(), sandbox.dial().clone());
    let hand = Dial {
        speed: Arc::new(move || dial.speed()),
        turn: Arc::new(move |turn| {
            turned.turn(match turn {
                Turned::Set(at) => Turn::Set(at),
                Turned::Step(seconds) => Turn::Step(seconds),
                Turned::Speed(speed) => Turn::Speed(speed),
                Turned::Resume => Turn::Resume,
            });
        }),
    };
    let cluster = Cluster::new(
        sandbox.client(),
        Arc::<runtime::clock::SetClock>::clone(&clock),
        Arc::default(),
        PATIENCE,
    );
    Desk::new(cluster, clock, "sandbox").with_dial(hand)
}
