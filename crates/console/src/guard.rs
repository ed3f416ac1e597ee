//! Who may ask, and from where? Functions of the headers of a request.
//!
//! A page of somebody else's can make a browser ask anything of a loopback address, so nothing is taken on trust: the name that was asked for
//! is one of ours (a name that leads here today and led elsewhere yesterday is not), and a write comes from a page of ours, says so twice, and
//! shows a token that only such a page has. What is missing counts as wrong.

use http::{HeaderMap, Method, StatusCode, header};

/// Why something is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: StatusCode,
    pub(crate) why: &'static str,
}

const fn forbidden(why: &'static str) -> Refusal {
    Refusal { code: StatusCode::FORBIDDEN, why }
}

/// The names by which this console is asked for, with its port.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    hosts: Vec<String>,
    scheme: &'static str,
}

impl Names {
    /// Those of a port on loopback.
    pub(crate) fn on_loopback(port: u16) -> Self {
        let hosts = vec![format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        Self { hosts, scheme: "http://" }
    }

    /// Those that an administrator gave a console in a cluster; a browser reaches it encrypted only.
    pub(crate) fn given(hosts: Vec<String>) -> Self {
        Self { hosts, scheme: "https://" }
    }

    /// That a request was sent to one of them.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = only(headers, &header::HOST);
        match host.filter(|host| self.hosts.iter().any(|name| name == host)) {
            Some(_) => Ok(()),
            None => Err(forbidden("this console has another name")),
        }
    }

    /// That a write comes from a page of ours.
    pub(crate) fn check_write(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        if method != Method::POST {
            let code = StatusCode::METHOD_NOT_ALLOWED;
            return Err(Refusal { code, why: "only POST writes" });
        }
        let site = only(headers, &header::HeaderName::from_static("sec-fetch-site"));
        if site != Some("same-origin") {
            return Err(forbidden("a write comes from a page of this console"));
        }
        let origin =
            only(headers, &header::ORIGIN).and_then(|origin| origin.strip_prefix(self.scheme));
        let host = only(headers, &header::HOST);
        let ours = origin.is_some_and(|origin| self.hosts.iter().any(|name| name == origin));
        if !ours || origin != host {
            return Err(forbidden("a write comes from a page of this console"));
        }
        let format = only(headers, &header::CONTENT_TYPE);
        let format = format.map(|format| format.split(';').next().unwrap_or_default().trim());
        if format != Some("application/x-www-form-urlencoded") {
            let code = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Refusal { code, why: "a write is a form" });
        }
        Ok(())
    }
}

/// That a form shows the token of its session. As long for a wrong one as for the right one.
pub(crate) fn check_token(shown: Option<&str>, token: &str) -> Result<(), Refusal> {
    if shown.is_some_and(|shown| same(shown.as_bytes(), token.as_bytes())) {
        return Ok(());
    }
    Err(forbidden("this form is of another session; load the page again"))
}

/// Whether two texts are the same, without telling how much of them is.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// A header that is there once.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(rows: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in rows {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let names = Names::on_loopback(4242);
        let check = |rows: &[(&'static str, &'static str)], expected: bool| {
            assert_eq!(names.check(&headers(rows)).is_ok(), expected, "{rows:?}");
        };
        check(&[("host", "127.0.0.1:4242")], true);
        check(&[("host", "localhost:4242")], true);
        check(&[("host", "elsewhere.example:4242")], false);
        check(&[("host", "127.0.0.1")], false);
        check(&[("host", "127.0.0.1:4243")], false);
        check(&[], false);
        check(&[("host", "127.0.0.1:4242"), ("host", "elsewhere.example")], false);
    }

    #[test]
    fn a_write_comes_from_a_page_of_ours() {
        let names = Names::on_loopback(4242);
        let good = [
            ("host", "127.0.0.1:4242"),
            ("origin", "http://127.0.0.1:4242"),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        let check = |method: Method, rows: &[(&'static str, &'static str)], expected: u16| {
            let found = names.check_write(&method, &headers(rows));
            let code = found.map_or_else(|refusal| refusal.code.as_u16(), |()| 200);
            assert_eq!(code, expected, "{method} {rows:?}");
        };
        check(Method::POST, &good, 200);
        check(Method::GET, &good, 405);
        check(Method::PUT, &good, 405);
        for missing in ["origin", "sec-fetch-site", "content-type"] {
            let rest: Vec<_> = good.iter().copied().filter(|(name, _)| *name != missing).collect();
            check(Method::POST, &rest, if missing == "content-type" { 415 } else { 403 });
        }
        for (name, value, expected) in [
            ("origin", "http://localhost:4242", 403),
            ("origin", "https://127.0.0.1:4242", 403),
            ("origin", "http://elsewhere.example", 403),
            ("origin", "null", 403),
            ("sec-fetch-site", "same-site", 403),
            ("sec-fetch-site", "cross-site", 403),
            ("sec-fetch-site", "none", 403),
            ("content-type", "text/plain", 415),
            ("content-type", "multipart/form-data; boundary=x", 415),
        ] {
            let rows =
                good.map(|(known, was)| if known == name { (name, value) } else { (known, was) });
            check(Method::POST, &rows, expected);
        }
    }

    /// Behind a name of its own a console is asked for by that name, and written to from pages that came encrypted.
    #[test]
    fn names_that_were_given_are_encrypted() {
        let names = Names::given(vec!["console.example.com".into()]);
        let write = |origin: &'static str| {
            let rows = [
                ("host", "console.example.com"),
                ("origin", origin),
                ("sec-fetch-site", "same-origin"),
                ("content-type", "application/x-www-form-urlencoded"),
            ];
            names
                .check(&headers(&rows))
                .and_then(|()| names.check_write(&Method::POST, &headers(&rows)))
        };
        assert!(write("https://console.example.com").is_ok());
        for origin in [
            "http://console.example.com",
            "https://console.example.com:8443",
            "https://example.com",
            "null",
        ] {
            assert!(write(origin).is_err(), "{origin}");
        }
        assert!(names.check(&headers(&[("host", "127.0.0.1:8443")])).is_err());
    }

    #[test]
    fn a_form_shows_its_token() {
        assert!(check_token(Some("abc"), "abc").is_ok());
        for wrong in [None, Some(""), Some("abd"), Some("abcd")] {
            assert!(check_token(wrong, "abc").is_err(), "{wrong:?}");
        }
    }
}
