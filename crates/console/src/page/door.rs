//! What does somebody see who is not in yet? One field.

use http::StatusCode;
use maud::{Markup, html};

use super::frame;
use crate::draw::icon;

/// The page with the field; `wrong` if a code was of no use.
pub(crate) fn page(wrong: bool) -> (StatusCode, Markup) {
    let code = if wrong { StatusCode::FORBIDDEN } else { StatusCode::UNAUTHORIZED };
    let body = html! {
        body {
            main class="door" {
                p { span class="brand" { (icon::sign()) "Tidegate" } }
                div class="card" {
                    form class="fields" method="post" action="/door" data-door="" {
                        h1 { "Who is there?" }
                        div class="field" {
                            label for="code" { "Code" }
                            input id="code" name="code" type="text" autocomplete="off" spellcheck="false" autofocus
                                required aria-describedby="code-hint" aria-invalid=[wrong.then_some("true")];
                            @if wrong {
                                p class="wrong" role="alert" { "This code is over: each lets one in, once, within ten minutes." }
                            }
                            p class="hint" id="code-hint" {
                                "It stands behind the # of the address that the command printed. For a new one press Enter in the terminal where the "
                                "console runs, or c where a sandbox does."
                            }
                        }
                        div class="row" { button class="first" { "Enter" } }
                    }
                }
            }
        }
    };
    (code, frame::document("Tidegate", &body))
}

/// A page that says why something was not answered.
pub(crate) fn refused(why: &str) -> Markup {
    let body = html! {
        body {
            main class="door" {
                p { span class="brand" { (icon::sign()) "Tidegate" } }
                div class="card" { div class="pad" {
                    h1 { "This was refused." }
                    p { (why) "." }
                    p { a href="/" { "Now" } }
                } }
            }
        }
    };
    frame::document("Tidegate", &body)
}
