//! Is the engine right? Everything here asks through its public surface only, and compares with somebody else's answer:
//! a day-by-day reading of the specification, python-dateutil, RFC 5545, jiff's zones, the faults of peers, the laws of sets.

#[cfg(test)]
mod mutants;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod vectors;
