//! The numbers that monitoring collects, as plain data: whoever exports them chooses the format.

/// Families of numbers, in the order in which they were first written.
///
/// Names follow Prometheus: lower case with underscores, the unit last, counters without `_total`,
/// which the exporter adds. A family that is written again with other labels gets one more number;
/// with the same labels, the later number stands. What is written to a family of another kind is
/// left out.
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

/// Numbers of the same meaning, told apart by their labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The name, without an exporter's suffix.
    pub name: String,
    /// What the numbers are, for people.
    pub help: String,
    /// The numbers; all of the same kind.
    pub samples: Vec<Sample>,
}

/// One number, or one distribution.
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
    /// Only grows while the server runs, but for `CONFIG RESETSTAT`.
    Counter(f64),
    /// Goes up and down.
    Gauge(f64),
    /// How values are distributed.
    Histogram(Buckets),
}

/// A distribution, in buckets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// The sum of all values.
    pub sum: f64,
    /// Each with its upper bound and how many values lie between that and the bound before. The
    /// last bound is infinite.
    pub buckets: Vec<(f64, u64)>,
}

type Labels<'a> = &'a [(&'static str, &'a str)];

impl Metrics {
    /// Writes a number that only grows.
    pub fn counter(&mut self, name: &str, help: &str, labels: Labels<'_>, count: u64) {
        self.write(name, help, labels, Value::Counter(count as f64));
    }

    /// Writes a number that only grows and is no count, such as seconds.
    pub fn sum(&mut self, name: &str, help: &str, labels: Labels<'_>, sum: f64) {
        self.write(name, help, labels, Value::Counter(sum));
    }

    /// Writes a number that goes up and down.
    pub fn gauge(&mut self, name: &str, help: &str, labels: Labels<'_>, number: f64) {
        self.write(name, help, labels, Value::Gauge(number));
    }

    /// Writes a distribution.
    pub fn histogram(&mut self, name: &str, help: &str, labels: Labels<'_>, buckets: Buckets) {
        self.write(name, help, labels, Value::Histogram(buckets));
    }

    /// What was written.
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
    fn families_keep_their_kind_and_their_labels_apart() {
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
