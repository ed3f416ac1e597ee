//! What time is it to a server in this process? What the one clock says.

use runtime::clock::{Clock as _, SetClock};

/// The sandbox's clock, as a server asks it.
pub(crate) struct ServerClock(pub(crate) SetClock);

impl apiserver::Clock for ServerClock {
    fn now(&self) -> jiff::Timestamp {
        self.0.exact()
    }
}
