//! What is shown of a decision? Rows, trees, tables, calendars and pictures, as functions of values.
//!
//! The command prints what these functions give, and a console can show the same: each view is a value with public fields, its items for
//! programs (docs/reference/json.md), and its drawing for people. Nothing here reads a clock, a file, a cluster or a terminal
//! (PURE-1): the instant is an argument, and a drawing is a text.

pub mod audit;
pub mod calendar;
pub mod change;
pub mod control_plane;
pub mod custom;
pub mod diff;
pub mod doctor;
pub mod drawing;
pub mod editing;
pub mod explain;
pub mod freezing;
pub mod gates;
pub mod gating;
pub mod heading;
pub mod history;
pub mod items;
pub mod now;
pub mod object;
pub mod opening;
pub mod pool;
pub mod proposal;
pub mod prune;
pub mod safe;
pub mod simulation;
pub mod spoken;
pub mod status;
pub mod stretches;
pub mod svg;
pub mod text;
pub mod updating;
pub mod windows;
pub mod yaml;
