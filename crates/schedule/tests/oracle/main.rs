//! Is the engine right? Everything here asks through its public surface only, and compares with somebody else's answer:
//! a day-by-day reading of the specification, python-dateutil, RFC 5545, jiff's zones, the faults of peers, the laws of sets.

#[cfg(test)]
mod reading;

#[cfg(test)]
mod vectors;

#[cfg(test)]
mod mutants;

#[cfg(test)]
mod engine;

#[cfg(test)]
mod plans;

#[cfg(test)]
mod bodies;

#[cfg(test)]
mod compare;

#[cfg(test)]
mod brute;

#[cfg(test)]
mod laws;

#[cfg(test)]
mod least;

#[cfg(test)]
mod zones;

#[cfg(test)]
mod peers;

#[cfg(test)]
mod rfc5545;

#[cfg(test)]
mod rrules;
