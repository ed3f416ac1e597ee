//! How is a value written as YAML? The reverse of what is read, in the style of Kubernetes.

use serde_json::Value;

/// Writes a value as one document.
pub fn write(value: &Value) -> String {
    let mut text = String::new();
    block(value, 0, &mut text);
    text
}

fn block(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (place, (name, value)) in fields.iter().enumerate() {
                if place > 0 || text.ends_with('\n') {
                    text.push_str(&" ".repeat(indent));
                }
                text.push_str(&scalar(name));
                text.push(':');
                field(value, indent, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                text.push_str(&" ".repeat(indent));
                text.push_str("- ");
                match item {
                    Value::Object(fields) if !fields.is_empty() => block(item, indent + 2, text),
                    // A list in a list stands on one line, as JSON does.
                    Value::Array(_) => {
                        text.push_str(&item.to_string());
                        text.push('\n');
                    }
                    _ => block(item, indent, text),
                }
            }
        }
        Value::String(words) => {
            text.push_str(&scalar(words));
            text.push('\n');
        }
        other => {
            text.push_str(&other.to_string());
            text.push('\n');
        }
    }
}

fn field(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            text.push('\n');
            block(value, indent + 2, text);
        }
        // Kubernetes writes the entries of a list below their field, not indented.
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            block(value, indent, text);
        }
        other => {
            text.push(' ');
            block(other, indent, text);
        }
    }
}

/// A text as it stands if every reader takes it for the same text, otherwise in the quotes of JSON, which are YAML's too.
fn scalar(text: &str) -> String {
    let safe = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '-' | '_' | '/' | '.' | ' ' | '(' | ')' | ',' | ';' | '=' | '+')
    };
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    let plain = text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !text.ends_with(' ')
        && text.chars().all(safe)
        && !word;
    if plain { text.to_owned() } else { Value::String(text.to_owned()).to_string() }
}
