//! What does somebody see who opens a browser, and what can they do there?
//!
//! Pages are pure functions of a `view::View`, the instant in it and what was asked; every sentence about a gate is made in `core` and
//! `views`, so that a page says what `tidegate status` and `tidegate explain` say. The shell around them reads a cluster by the watches of
//! `runtime`, lets in whoever has the code, and sends what people decide with their own rights.
//!
//! Without a script a page is whole and a form is a form. With one it stays true by itself (`live.rs`).

mod answer;
mod asked;
mod asset;
mod clock;
mod deed;
mod desk;
mod draw;
mod edit;
mod forecast;
mod guard;
mod guest;
mod live;
mod page;
mod record;
mod report;
mod route;
mod serve;
mod session;
mod shown;
mod view;

pub use self::{
    clock::TheirClock,
    desk::{AsSomebody, Desk, Dial, Turned},
    report::Report,
    serve::{Entrance, serve},
    session::{Chance, Doors},
};
