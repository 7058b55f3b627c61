//! Encodes metrics as OpenMetrics text.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use respire_engine::Metrics;
use respire_engine::metrics::{Family, Value};
use std::collections::HashSet;
use std::fmt;

/// The content type of the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Encodes the metrics as OpenMetrics text, which Prometheus and compatible tools read.
///
/// A byte that is invalid in a name becomes `_`. If two families have the same name, the first is
/// kept.
///
/// ```
/// use respire_engine::Metrics;
///
/// let mut metrics = Metrics::default();
/// metrics.counter("refusals", "Requests over the limit.", &[("plan", "free")], 3);
/// assert_eq!(
///     respire_net::metrics::encode(metrics),
///     "# HELP refusals Requests over the limit.\n# TYPE refusals counter\n\
///      refusals_total{plan=\"free\"} 3.0\n# EOF\n"
/// );
/// ```
#[must_use]
pub fn encode(metrics: Metrics) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Exposition(metrics)));
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = text::encode(&mut out, &registry);
    out
}

#[derive(Debug)]
struct Exposition(Metrics);

impl Collector for Exposition {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut names = HashSet::new();
        for family in self.0.families() {
            let name = valid(family.name.trim_end_matches("_total"));
            if names.insert(name.clone()) {
                write(family, &name, &mut encoder)?;
            }
        }
        Ok(())
    }
}

fn write(family: &Family, name: &str, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let kind = match family.samples.first().map(|sample| &sample.value) {
        Some(Value::Counter(_)) => MetricType::Counter,
        Some(Value::Gauge(_)) => MetricType::Gauge,
        Some(Value::Histogram(_)) => MetricType::Histogram,
        None => return Ok(()),
    };
    // The encoder writes the help text unchanged.
    let help = family.help.replace(['\n', '\r', '\\', '"'], " ");
    let mut encoder = encoder.encode_descriptor(name, &help, None, kind)?;
    for sample in &family.samples {
        let labels: Vec<(String, &str)> = sample
            .labels
            .iter()
            .map(|(name, value)| (valid(name), &**value))
            .collect();
        if labels.is_empty() {
            write_value(&sample.value, &mut encoder)?;
        } else {
            write_value(&sample.value, &mut encoder.encode_family(&&labels[..])?)?;
        }
    }
    Ok(())
}

fn write_value(value: &Value, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
    match value {
        Value::Counter(count) => encoder.encode_counter::<NoLabelSet, _, f64>(count, None),
        Value::Gauge(number) => encoder.encode_gauge(number),
        Value::Histogram(times) => {
            let count = times.buckets.iter().map(|(_, count)| count).sum();
            encoder.encode_histogram::<NoLabelSet>(times.sum, count, &times.buckets, None)
        }
    }
}

/// A name that the format allows.
fn valid(name: &str) -> String {
    let replaced = |at: usize, letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '_' => letter,
        '0'..='9' if at > 0 => letter,
        _ => '_',
    };
    let name: String = name
        .chars()
        .enumerate()
        .map(|(at, letter)| replaced(at, letter))
        .collect();
    if name.is_empty() {
        "_".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use respire_engine::metrics::Buckets;

    #[test]
    fn every_kind_of_metric_is_encoded() {
        let mut out = Metrics::default();
        out.counter("a_total", "Help.", &[], 12_345_678_901);
        out.sum("b_seconds", "Help", &[("x", "1")], 0.25);
        out.gauge("c", "Two\nlines", &[("x", "a\"b\\c\nd"), ("y", "é")], -1.5);
        let buckets = vec![(0.5, 2), (1.0, 0), (f64::INFINITY, 1)];
        let times = Buckets { sum: 7.5, buckets };
        out.histogram("d_seconds", "Help.", &[("x", "1")], times);
        assert_eq!(
            encode(out),
            "# HELP a Help.\n# TYPE a counter\na_total 12345678901.0\n\
             # HELP b_seconds Help\n# TYPE b_seconds counter\nb_seconds_total{x=\"1\"} 0.25\n\
             # HELP c Two lines\n# TYPE c gauge\nc{x=\"a\\\"b\\\\c\\nd\",y=\"é\"} -1.5\n\
             # HELP d_seconds Help.\n# TYPE d_seconds histogram\n\
             d_seconds_sum{x=\"1\"} 7.5\nd_seconds_count{x=\"1\"} 3\n\
             d_seconds_bucket{le=\"0.5\",x=\"1\"} 2\nd_seconds_bucket{le=\"1.0\",x=\"1\"} 2\n\
             d_seconds_bucket{le=\"+Inf\",x=\"1\"} 3\n# EOF\n"
        );
    }

    #[test]
    fn names_become_valid_and_unique() {
        let mut out = Metrics::default();
        for name in ["a-b", "a_b", "7up", "", "é:x"] {
            out.gauge(name, "Help.", &[("job.id", "1")], 1.0);
        }
        let text = encode(out);
        let samples: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            samples,
            [
                "a_b{job_id=\"1\"} 1.0",
                "_up{job_id=\"1\"} 1.0",
                "_{job_id=\"1\"} 1.0",
                "__x{job_id=\"1\"} 1.0"
            ]
        );
    }
}
