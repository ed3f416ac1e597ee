//! What is said of a pool whose changes are held? The only place with words for it.

use std::fmt;

use super::status::{GoesOn, Held};
use crate::gate::words::listed;

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hold, goes_on) = match self {
            Self::Stopped(stop) => return write!(f, "{stop}"),
            Self::NotRendered => return f.write_str("nothing has been rendered yet"),
            Self::Gate { hold, goes_on } => (hold, goes_on),
        };
        write!(f, "changes are held ({})", hold.reason)?;
        if let Some(until) = hold.until {
            write!(f, " until {until}")?;
        }
        let GoesOn { begun, later, bypasses, riding } = goes_on;
        for change in begun {
            write!(f, "; {change} has begun and goes on")?;
        }
        if !later.is_empty() {
            write!(f, "; written later, and waits: {}", listed(later.iter().cloned()))?;
        }
        for (source, count) in bypasses {
            write!(f, "; MachineConfig/{source} bypasses that on {count} nodes")?;
        }
        if !riding.is_empty() {
            write!(f, "; riding along: {}", listed(riding.iter().cloned()))?;
        }
        Ok(())
    }
}
