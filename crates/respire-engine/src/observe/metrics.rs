//! Metrics for monitoring, as plain data: the exporter chooses the format.

/// Families of metrics, in the order in which they were first written.
///
/// Names follow Prometheus: lower case with underscores, the unit last, counters without `_total`,
/// which the exporter adds. Writing a family again with other labels adds a sample. With the same
/// labels it replaces the sample. A sample of another kind than its family is dropped.
///
/// ```
/// use respire_engine::Metrics;
///
/// let mut out = Metrics::default();
/// out.counter("limiter_refusals", "Requests over the limit.", &[("plan", "free")], 3);
/// out.counter("limiter_refusals", "Requests over the limit.", &[("plan", "paid")], 1);
/// out.gauge("limiter_buckets", "Buckets in use.", &[], 12.0);
/// assert_eq!(out.families().len(), 2);
/// assert_eq!(out.families()[0].samples[1].labels[0].1, "paid");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    families: Vec<Family>,
}

/// Samples with the same meaning and different labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The name, without an exporter's suffix.
    pub name: String,
    /// A description for people.
    pub help: String,
    /// The samples; all of the same kind.
    pub samples: Vec<Sample>,
}

/// One number or one distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Pairs of name and value.
    pub labels: Vec<(&'static str, String)>,
    /// The number.
    pub value: Value,
}

/// A number by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Only increases while the server runs, except for `CONFIG RESETSTAT`.
    Counter(f64),
    /// Increases and decreases.
    Gauge(f64),
    /// A distribution of values.
    Histogram(Buckets),
}

/// A distribution, in buckets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// The sum of all values.
    pub sum: f64,
    /// Pairs of an upper bound and the number of values between the previous bound and this one.
    /// The last bound is infinite.
    pub buckets: Vec<(f64, u64)>,
}

type Labels<'a> = &'a [(&'static str, &'a str)];

impl Metrics {
    /// Writes a number that only increases.
    pub fn counter(&mut self, name: &str, help: &str, labels: Labels<'_>, count: u64) {
        self.write(name, help, labels, Value::Counter(count as f64));
    }

    /// Writes a number that only increases and is not a count, such as seconds.
    pub fn sum(&mut self, name: &str, help: &str, labels: Labels<'_>, sum: f64) {
        self.write(name, help, labels, Value::Counter(sum));
    }

    /// Writes a number that increases and decreases.
    pub fn gauge(&mut self, name: &str, help: &str, labels: Labels<'_>, number: f64) {
        self.write(name, help, labels, Value::Gauge(number));
    }

    /// Writes a distribution.
    pub fn histogram(&mut self, name: &str, help: &str, labels: Labels<'_>, buckets: Buckets) {
        self.write(name, help, labels, Value::Histogram(buckets));
    }

    /// The families written so far.
    #[must_use]
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    fn write(&mut self, name: &str, help: &str, labels: Labels<'_>, value: Value) {
        let owned = |(name, value): &(&'static str, &str)| (*name, (*value).to_owned());
        let sample = Sample {
            labels: labels.iter().map(owned).collect(),
            value,
        };
        let Some(family) = self.families.iter_mut().find(|known| known.name == name) else {
            self.families.push(Family {
                name: name.to_owned(),
                help: help.to_owned(),
                samples: vec![sample],
            });
            return;
        };
        let is_kind = |known: &Sample| {
            std::mem::discriminant(&known.value) == std::mem::discriminant(&sample.value)
        };
        if !family.samples.first().is_none_or(is_kind) {
            return;
        }
        let same = |known: &&mut Sample| known.labels == sample.labels;
        match family.samples.iter_mut().find(same) {
            Some(known) => *known = sample,
            None => family.samples.push(sample),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_keeps_its_kind_and_separates_labels() {
        let mut out = Metrics::default();
        out.counter("a", "help", &[("x", "1")], 1);
        out.gauge("a", "other", &[("x", "2")], 2.0);
        out.counter("a", "help", &[("x", "1")], 3);
        out.sum("a", "help", &[], 0.5);
        let [family] = out.families() else {
            panic!("one family was written");
        };
        assert_eq!(family.help, "help");
        let values: Vec<_> = family.samples.iter().map(|sample| &sample.value).collect();
        assert_eq!(values, [&Value::Counter(3.0), &Value::Counter(0.5)]);
    }
}
