//! Does a text look like what nobody may see? For texts that stay otherwise: somebody pastes a token into a reason, a proxy has a password.
//!
//! It knows forms, not meanings. What is certain to stay out of a dump stays out because its field is not listed.

/// Whether a field of this name holds what nobody may see, whatever it looks like.
pub(super) fn names_a_secret(field: &str) -> bool {
    let field: String =
        field.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let telling = [
        "password",
        "passwd",
        "token",
        "privatekey",
        "secretkey",
        "apikey",
        "clientsecret",
        "credential",
        "authorization",
    ];
    telling.iter().any(|word| field.ends_with(word))
}

/// Whether a text has the form of a token, a key, or an address with a password.
pub(super) fn looks_secret(text: &str) -> bool {
    let begins = |start: &str, least: usize| {
        text.match_indices(start).any(|(at, _)| {
            let rest = text.get(at + start.len()..).unwrap_or_default();
            let taken =
                rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_.+/=~".contains(*c));
            taken.count() >= least
        })
    };
    text.contains("PRIVATE KEY-----")
        || begins("eyJ", 30)
        || begins("Bearer ", 16)
        || begins("Basic ", 16)
        || begins("AKIA", 16)
        || begins("hooks.slack.com/services/", 8)
        || ["ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "sha256~"]
            .iter()
            .any(|start| begins(start, 16))
        || has_password(text)
}

/// Whether an address in a text names somebody with a password.
fn has_password(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let host = rest.split(|c: char| c == '/' || c.is_whitespace()).next().unwrap_or_default();
        host.rsplit_once('@').is_some_and(|(who, _)| who.contains(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_secrets_are_known_and_words_are_not_taken_for_them() {
        let check = |text: &str, expected: bool| assert_eq!(looks_secret(text), expected, "{text}");
        check("eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJrIn0.c2ln", true);
        check("see eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJrIn0.c2ln there", true);
        check("Authorization: Bearer 0123456789abcdef0", true);
        check("-----BEGIN RSA PRIVATE KEY-----\nMII", true);
        check("http://jane:pa55@proxy.example.com:3128", true);
        check("use http://a:b@c now", true);
        check("ghp_0123456789abcdefghij", true);
        check("sha256~0123456789abcdefghijklmn", true);
        check("AKIAIOSFODNN7EXAMPLE", true);
        check("https://hooks.slack.com/services/T000/B000/XXXX", true);
        check("https://example.com/a@b:c", false);
        check("jane@example.com", false);
        check("quay.io/app@sha256:0123456789abcdef0123456789abcdef", false);
        check("Basic maintenance of the network", false);
        check("the bearer of bad news", false);
        check("-----BEGIN CERTIFICATE-----", false);
        check("", false);
    }

    #[test]
    fn names_of_fields_tell() {
        let check =
            |field: &str, expected: bool| assert_eq!(names_a_secret(field), expected, "{field}");
        for field in [
            "password",
            "bindPassword",
            "token",
            "api_key",
            "client-secret",
            "privateKey",
            "proxy-authorization",
        ] {
            check(field, true);
        }
        for field in ["tokenSecretRef", "name", "secretName", "key", "reason", "pullSecret"] {
            check(field, false);
        }
    }
}
