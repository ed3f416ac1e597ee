//! How is something answered? With the headers that keep a page to itself.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use maud::Markup;

/// What is sent: a page, or what happens as it happens.
pub(crate) type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// What a page may do: show what this console sends, ask this console, and nothing else. No exception is made for anybody.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'none'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types tidegate";

/// What every answer says.
const HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    // Not `no-referrer`: browsers then call the origin of a form `null`, and a write has to say where it comes from.
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    // Nothing that one person sees is kept where another may find it.
    ("cache-control", "no-store"),
];

/// An answer of this type.
pub(crate) fn reply(code: StatusCode, format: &'static str, body: impl Into<Bytes>) -> Reply {
    let body = Full::new(body.into()).boxed_unsync();
    dressed(code, format, body)
}

/// An answer with any body.
pub(crate) fn dressed(
    code: StatusCode,
    format: &'static str,
    body: UnsyncBoxBody<Bytes, Infallible>,
) -> Reply {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(format));
    for (name, value) in HEADERS {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    response
}

/// A page.
pub(crate) fn page(code: StatusCode, markup: Markup) -> Reply {
    reply(code, "text/html; charset=utf-8", markup.into_string())
}

/// Leads to another page of this console, which is asked for anew.
pub(crate) fn see(path: &str) -> Reply {
    let mut response = reply(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "see there\n");
    let place = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, place);
    response
}

/// A text that is kept as a file and never shown as a page. The name is ours.
pub(crate) fn download(name: &'static str, text: String) -> Reply {
    let mut response = reply(StatusCode::OK, "text/plain; charset=utf-8", text);
    let kept = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    let kept = kept.unwrap_or(HeaderValue::from_static("attachment"));
    response.headers_mut().insert(header::CONTENT_DISPOSITION, kept);
    response
}
