//! What does a page consist of? Parts with names, so that one can be sent again without the others, inside one frame.

pub(crate) mod calendar;
pub(crate) mod deeds;
pub(crate) mod door;
pub(crate) mod edit;
pub(crate) mod frame;
pub(crate) mod gates;
pub(crate) mod history;
pub(crate) mod now;
pub(crate) mod policies;
pub(crate) mod pool;
pub(crate) mod resource;
pub(crate) mod resources;
mod rows;
pub(crate) mod what_if;

use http::StatusCode;
use maud::{Markup, html};

/// A page.
#[derive(Debug)]
pub(crate) struct Page {
    /// The answer in a few words, for the tab.
    pub(crate) title: String,
    /// The answer in a sentence: the heading of the page.
    pub(crate) said: String,
    /// Which of the pages it is, for the frame.
    pub(crate) here: Here,
    /// Whether it was found.
    pub(crate) code: StatusCode,
    /// Its parts, each with an element of that id.
    pub(crate) parts: Vec<Part>,
}

/// A part of a page.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) id: &'static str,
    pub(crate) html: Markup,
}

/// Which of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Here {
    Now,
    Calendar,
    Resources,
    Pools,
    Policies,
    WhatIf,
    Gates,
    History,
    Elsewhere,
}

impl Page {
    /// A page with a heading.
    pub(crate) fn new(here: Here, title: impl Into<String>, said: impl Into<String>) -> Self {
        let (title, said) = (title.into(), said.into());
        Self { title, said, here, code: StatusCode::OK, parts: Vec::new() }
    }

    /// A page that says why there is no other.
    pub(crate) fn missing(why: &str) -> Self {
        let mut page = Self::new(Here::Elsewhere, "not found", "There is nothing here.");
        page.code = StatusCode::NOT_FOUND;
        let answer = html! { div class="answer" id="answer" { div class="words" {
            h1 { "There is nothing here." }
            p { (crate::draw::free(why)) }
            p { a href="/" { "Now" } }
        } } };
        page.add("answer", answer);
        page
    }

    /// Adds a part.
    pub(crate) fn add(&mut self, id: &'static str, html: Markup) {
        self.parts.push(Part { id, html });
    }
}

#[cfg(test)]
mod tests;
