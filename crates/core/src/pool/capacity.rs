//! How many nodes may be unavailable at once? (POOL-2)

use serde_json::Value;

use crate::document::problem::{Code, FieldPath, Problem, quoted};

/// `spec.maxUnavailable`, understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many.
    Count(i64),
    /// So many of a hundred.
    Percent(u32),
}

impl Limit {
    /// Reads the field; one node, if it is not given.
    pub(crate) fn read(given: Option<&Value>) -> Result<Self, Box<Problem>> {
        let refused = |shown: String| {
            let path = FieldPath::of("spec.maxUnavailable");
            let detail = format!("{shown} is neither a number nor a percentage");
            let problem = Problem::new(&path, Code::BadFormat, detail);
            Err(Box::new(
                problem.hint("write a whole number such as 2, or a percentage such as \"10%\""),
            ))
        };
        match given {
            None | Some(Value::Null) => Ok(Self::Count(1)),
            Some(Value::Number(number)) => match number.as_i64() {
                Some(count) => Ok(Self::Count(count)),
                None => refused(number.to_string()),
            },
            Some(Value::String(text)) => {
                let digits = text.strip_suffix('%').filter(|digits| {
                    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
                });
                match digits.and_then(|digits| digits.parse().ok()) {
                    Some(percent) => Ok(Self::Percent(percent)),
                    None => refused(quoted(text)),
                }
            }
            Some(other) => refused(quoted(&other.to_string())),
        }
    }

    /// The limit for a pool of so many nodes: percentages round down, nothing becomes one, and less than nothing is nothing.
    pub fn of(self, machines: usize) -> usize {
        let scaled = match self {
            Self::Count(count) => i128::from(count),
            Self::Percent(percent) => i128::from(percent) * machines as i128 / 100,
        };
        match scaled {
            0 => 1,
            scaled => usize::try_from(scaled.max(0)).unwrap_or(usize::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// POOL-2
    #[test]
    fn limits_round_down_and_nothing_becomes_one() {
        let check = |machines: usize, given: Value, expected: usize| {
            let limit = Limit::read(Some(&given)).unwrap();
            assert_eq!(limit.of(machines), expected, "{given} of {machines}");
        };
        check(3, Value::Null, 1);
        check(3, json!("50%"), 1);
        check(5, json!("33%"), 1);
        check(10, json!("25%"), 2);
        check(4, json!("10%"), 1);
        check(4, json!(0), 1);
        check(0, json!("50%"), 1);
        check(4, json!(100), 100);
        check(4, json!(-1), 0);
        check(7, json!("100%"), 7);
    }

    /// POOL-2
    #[test]
    fn what_is_no_limit_is_refused() {
        for given in [json!("2"), json!("-5%"), json!("%"), json!("half"), json!(1.5), json!([1])] {
            let problem = Limit::read(Some(&given)).unwrap_err();
            assert_eq!(problem.field.to_string(), "spec.maxUnavailable", "{given}");
        }
    }
}
