//! What does somebody see who is not in yet? One field.

use http::StatusCode;
use maud::{Markup, html};

use super::frame;
use crate::draw::icon;

/// What lets somebody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A code that the process printed.
    Code,
    /// A token of the cluster that somebody pastes.
    Token,
    /// A token that a proxy hands on.
    Proxy,
}

/// The page with the field; `wrong` if what was typed was of no use.
pub(crate) fn page(by: By, wrong: bool) -> (StatusCode, Markup) {
    match by {
        By::Code => by_code(wrong),
        By::Token => by_token(wrong),
        By::Proxy => {
            let why = "the proxy in front of this console handed on no token that the cluster knows; sign in there again";
            (StatusCode::UNAUTHORIZED, refused(why))
        }
    }
}

fn by_token(wrong: bool) -> (StatusCode, Markup) {
    let code = if wrong { StatusCode::FORBIDDEN } else { StatusCode::UNAUTHORIZED };
    let body = html! {
        body {
            main class="door" {
                p { span class="brand" { (icon::sign()) "Tidegate" } }
                div class="card" {
                    form class="fields" method="post" action="/door" {
                        h1 { "Who is there?" }
                        div class="field" {
                            label for="bearer" { "Token" }
                            input id="bearer" name="bearer" type="password" autocomplete="off" spellcheck="false" autofocus
                                required aria-describedby="bearer-hint" aria-invalid=[wrong.then_some("true")];
                            @if wrong {
                                p class="wrong" role="alert" { "The cluster does not know this token, or it has expired." }
                            }
                            p class="hint" id="bearer-hint" {
                                "A token of this cluster, such as " code { "kubectl create token NAME" } " or " code { "oc whoami -t" } " prints. "
                                "What you see and do here is what it may."
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

fn by_code(wrong: bool) -> (StatusCode, Markup) {
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
