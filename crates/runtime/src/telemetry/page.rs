//! How are metrics written? The Prometheus text format, version 0.0.4.

use std::fmt::Write as _;

use api::metrics::{Form, Metric};

/// A page of metrics.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
}

/// How often values fell under each bound.
#[derive(Clone, Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    counts: Vec<u64>,
    count: u64,
    sum: f64,
}

impl Histogram {
    /// An empty one with these bounds.
    pub fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len()], count: 0, sum: 0.0 }
    }

    /// An empty one for a metric; without bounds if the metric is no histogram.
    pub fn of(metric: &Metric) -> Self {
        Self::new(match metric.form {
            Form::Histogram(bounds) => bounds,
            Form::Gauge | Form::Counter => &[],
        })
    }

    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        for (count, bound) in self.counts.iter_mut().zip(self.bounds) {
            *count += u64::from(value <= *bound);
        }
        self.count += 1;
        self.sum += value;
    }
}

impl Page {
    /// A page with room for so many bytes.
    pub fn with_room(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes) }
    }

    /// Begins a metric.
    pub fn begin(&mut self, metric: &Metric) {
        let Metric { name, form, labels: _, help } = metric;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {}", form.as_str());
    }

    /// One value, with the values of the metric's labels in their order; one that is empty is left out.
    pub fn sample(&mut self, metric: &Metric, labels: &[&str], value: f64) {
        self.line(
            metric.name,
            "",
            metric.labels.iter().copied().zip(labels.iter().copied()),
            value,
        );
    }

    /// One value, with labels that were written before by [`written`]: for those who have thousands.
    pub fn prepared(&mut self, metric: &Metric, labels: &[&str], value: i64) {
        self.text.push_str(metric.name);
        for label in labels {
            self.text.push_str(label);
        }
        let _ = writeln!(self.text, " {value}");
    }

    /// A whole histogram.
    pub fn histogram(&mut self, metric: &Metric, histogram: &Histogram) {
        self.begin(metric);
        for (count, bound) in histogram.counts.iter().zip(histogram.bounds) {
            self.line(metric.name, "_bucket", [("le", &*bound.to_string())], *count as f64);
        }
        self.line(metric.name, "_bucket", [("le", "+Inf")], histogram.count as f64);
        self.line(metric.name, "_sum", [], histogram.sum);
        self.line(metric.name, "_count", [], histogram.count as f64);
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }

    fn line<'a>(
        &mut self,
        name: &str,
        suffix: &str,
        labels: impl IntoIterator<Item = (&'a str, &'a str)>,
        value: f64,
    ) {
        self.text.push_str(name);
        self.text.push_str(suffix);
        let mut open = false;
        for (label, text) in labels.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.text.push(if open { ',' } else { '{' });
            open = true;
            write_label(&mut self.text, label, text);
        }
        if open {
            self.text.push('}');
        }
        let _ = if value.fract() == 0.0 && value.abs() < 1e15 {
            writeln!(self.text, " {}", value as i64)
        } else {
            writeln!(self.text, " {value}")
        };
    }
}

/// A label as it is written; nothing if it has no value.
pub fn written(before: char, label: &str, text: &str) -> String {
    let mut written = String::with_capacity(label.len() + text.len() + 4);
    if !text.is_empty() {
        written.push(before);
        write_label(&mut written, label, text);
    }
    written
}

fn write_label(page: &mut String, label: &str, text: &str) {
    page.push_str(label);
    page.push_str("=\"");
    if text.contains(['\\', '"', '\n']) {
        for c in text.chars() {
            match c {
                '\\' => page.push_str("\\\\"),
                '"' => page.push_str("\\\""),
                '\n' => page.push_str("\\n"),
                plain => page.push(plain),
            }
        }
    } else {
        page.push_str(text);
    }
    page.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRIC: Metric = Metric {
        name: "a",
        form: Form::Histogram(&[0.001, 0.005, 60.0]),
        labels: &["b", "d"],
        help: "Help.",
    };

    #[test]
    fn samples_are_written_as_scrapers_read_them() {
        let check = |labels: &[&str], value: f64, expected: &str| {
            let mut page = Page::default();
            page.sample(&METRIC, labels, value);
            assert_eq!(page.finish(), expected);
        };
        check(&[], 3.0, "a 3\n");
        check(&[], -2.0, "a -2\n");
        check(&[], 0.25, "a 0.25\n");
        check(&["c", "e"], 0.0, "a{b=\"c\",d=\"e\"} 0\n");
        check(&["c", ""], 0.0, "a{b=\"c\"} 0\n");
        check(&["x\"y\\z\n"], 1.0, "a{b=\"x\\\"y\\\\z\\n\"} 1\n");
    }

    #[test]
    fn histograms_are_cumulative() {
        let mut histogram = Histogram::of(&METRIC);
        for value in [0.0, 0.002, 0.25, 100.0] {
            histogram.add(value);
        }
        let mut page = Page::default();
        page.histogram(&METRIC, &histogram);
        let text = page.finish();
        let expected = "# HELP a Help.\n# TYPE a histogram\na_bucket{le=\"0.001\"} 1\n\
            a_bucket{le=\"0.005\"} 2\na_bucket{le=\"60\"} 3\na_bucket{le=\"+Inf\"} 4\n\
            a_sum 100.252\na_count 4\n";
        assert_eq!(text, expected);
    }
}
