//! Pools, decided and executed against a world that is a value.

mod laws;
mod render;
mod rollout;
mod simulation;
mod status;
mod world;
