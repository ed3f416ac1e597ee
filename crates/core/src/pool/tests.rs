//! Pools, decided and executed against a world that is a value.

mod covered;
mod first;
mod laws;
mod records;
mod render;
mod rollout;
mod simulation;
mod status;
mod target;
mod updates;
mod world;
