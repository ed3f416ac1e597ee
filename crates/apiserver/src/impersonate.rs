//! For whom does a request speak?
//!
//! There is no authentication on loopback, so everybody may speak as anybody. The headers and what follows from them are those of the
//! real server: policies there and here see the same user.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderValue};

use crate::{call::User, query::percent_decode, status::Refusal};

const NAME: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const EXTRA: &str = "impersonate-extra-";
const AUTHENTICATED: &str = "system:authenticated";

/// The user that the headers name, or else `user`.
pub(crate) fn speaker(headers: &HeaderMap, user: User) -> Result<User, Refusal> {
    let named = |key: &str| headers.get_all(key).iter().filter_map(text).collect::<Vec<_>>();
    let Some(name) = named(NAME).into_iter().find(|name| !name.is_empty()) else {
        if headers.keys().any(|key| key.as_str().starts_with("impersonate-")) {
            let why = "requesting groups or extra fields without impersonating a user";
            return Err(Refusal::internal(why));
        }
        return Ok(user);
    };
    let mut groups = named(GROUP);
    if let (true, Some(account)) = (groups.is_empty(), name.strip_prefix("system:serviceaccount:"))
    {
        let namespace = account.split(':').next().unwrap_or_default();
        groups.push("system:serviceaccounts".to_owned());
        groups.push(format!("system:serviceaccounts:{namespace}"));
    }
    if name != "system:anonymous" && !groups.iter().any(|group| group == AUTHENTICATED) {
        groups.push(AUTHENTICATED.to_owned());
    }
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, value) in headers {
        if let Some(key) = key.as_str().strip_prefix(EXTRA) {
            extra.entry(percent_decode(key)).or_default().extend(text(value));
        }
    }
    Ok(User { name, groups, extra })
}

fn text(value: &HeaderValue) -> Option<String> {
    value.to_str().ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], expect: Result<(&str, &[&str]), &str>) {
        let mut sent = HeaderMap::new();
        for (key, value) in headers {
            sent.append(*key, HeaderValue::from_static(value));
        }
        let admin = User {
            name: "admin".to_owned(),
            groups: vec!["system:masters".to_owned()],
            extra: BTreeMap::new(),
        };
        match (speaker(&sent, admin), expect) {
            (Ok(user), Ok((name, groups))) => {
                assert_eq!(
                    (user.name.as_str(), user.groups),
                    (name, groups.iter().map(|g| (*g).to_owned()).collect())
                );
            }
            (Err(refusal), Err(part)) => {
                assert!(refusal.to_value().to_string().contains(part));
            }
            (found, expect) => panic!("expected {expect:?}, found {found:?}"),
        }
    }

    #[test]
    fn headers_say_for_whom_a_request_speaks() {
        check(&[], Ok(("admin", &["system:masters"])));
        check(&[("impersonate-user", "jane")], Ok(("jane", &["system:authenticated"])));
        check(
            &[("impersonate-user", "jane"), ("impersonate-group", "a"), ("impersonate-group", "b")],
            Ok(("jane", &["a", "b", "system:authenticated"])),
        );
        check(
            &[("impersonate-user", "system:serviceaccount:n:a")],
            Ok((
                "system:serviceaccount:n:a",
                &["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"],
            )),
        );
        check(&[("impersonate-group", "a")], Err("without impersonating a user"));
        check(
            &[("impersonate-extra-authentication.kubernetes.io%2fnode-name", "n1")],
            Err("without impersonating a user"),
        );
    }

    #[test]
    fn extra_fields_are_decoded() {
        let mut headers = HeaderMap::new();
        headers.append(NAME, HeaderValue::from_static("a"));
        let key = "impersonate-extra-authentication.kubernetes.io%2fnode-name";
        headers.append(key, HeaderValue::from_static("n1"));
        let nobody = User { name: String::new(), groups: Vec::new(), extra: BTreeMap::new() };
        let user = speaker(&headers, nobody).unwrap();
        assert_eq!(
            user.extra,
            BTreeMap::from([(
                "authentication.kubernetes.io/node-name".to_owned(),
                vec!["n1".to_owned()]
            )])
        );
        assert_eq!(user.shown().extra.map(|extra| extra.len()), Some(1));
    }
}
