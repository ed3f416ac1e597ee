//! How is held what others own? The table of rooms, and what the API server is given of it.
//!
//! - RCH-3: what is refused is the first write of a stock controller, and nothing is ever held by pausing. Each [`rooms`] entry knows one
//!   such write, what it does not hold, and how what waits is woken.
//! - RCH-14: the admission policies are static and rendered from the table ([`policies`]); the only thing that moves is
//!   `status.windows` of a gate ([`windows`]).
//! - RCH-12: which gate selects what, and what of it waits, is told by [`held`] and [`target`].
//! - GATE-13: whether the server refuses is tried by first writes that nobody keeps ([`trial`]).
//! - GATE-7: the server judges by its own fresh stamps ([`fresh`]), with nothing of ours alive.

pub mod called;
pub mod custom;
pub mod fresh;
pub mod held;
pub mod policies;
pub mod rooms;
pub mod seen;
pub mod selector;
pub mod selects;
pub mod target;
pub mod trial;
pub mod windows;
