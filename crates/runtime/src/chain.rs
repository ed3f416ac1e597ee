//! What went wrong, in one line? An error and its causes, each said once: libraries often repeat a cause in their own words.

use std::error::Error;

/// The error with its causes.
pub fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (**cause).source());
    causes.fold(error.to_string(), |text, cause| {
        let cause = cause.to_string();
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{said}")]
    struct Said {
        said: &'static str,
        source: Option<Box<dyn Error>>,
    }

    #[test]
    fn each_cause_is_said_once() {
        let check = |words: [&'static str; 3], expected: &str| {
            let last: Box<dyn Error> = Box::new(io::Error::other(words[2]));
            let middle = Said { said: words[1], source: Some(last) };
            let whole = Said { said: words[0], source: Some(Box::new(middle)) };
            assert_eq!(chain(&whole), expected);
        };
        check(["no client", "no TLS", "no roots"], "no client: no TLS: no roots");
        check(["no client", "no TLS: no roots", "no roots"], "no client: no TLS: no roots");
        check(["no roots", "no roots", "no roots"], "no roots");
    }
}
