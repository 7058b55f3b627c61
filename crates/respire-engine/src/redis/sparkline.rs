//! Draws the chart of `LATENCY GRAPH`: a column of characters per sample, with a label below.

/// The characters of a row, from its lowest level to its highest.
const LEVELS: [char; 3] = ['_', 'o', '#'];
/// The character that fills a column below its top.
const FILL: char = '|';
const ROWS: usize = 4;
/// The maximum number of samples side by side; more go below.
const COLUMNS: usize = 80;

/// A value and its label.
pub(super) struct Sample {
    pub(super) value: u64,
    pub(super) label: String,
}

/// Draws the samples, oldest first, scaled from their lowest to their highest value.
pub(super) fn sparkline(samples: &[Sample]) -> String {
    let low = samples.iter().map(|sample| sample.value).min().unwrap_or(0);
    let high = samples.iter().map(|sample| sample.value).max().unwrap_or(0);
    let span = (high - low).max(1) as f64;
    let steps = LEVELS.len() * ROWS;
    let step = |sample: &Sample| {
        let share = (sample.value - low) as f64 * steps as f64 / span;
        (share as usize).min(steps - 1)
    };
    let mut drawing = String::new();
    for (at, chunk) in samples.chunks(COLUMNS).enumerate() {
        if at > 0 {
            drawing.push('\n');
        }
        for row in (0..ROWS).rev() {
            let below = row * LEVELS.len();
            push_row(&mut drawing, chunk, |sample| {
                match step(sample).checked_sub(below) {
                    None => ' ',
                    Some(level) => LEVELS.get(level).copied().unwrap_or(FILL),
                }
            });
        }
        push_row(&mut drawing, chunk, |_| ' ');
        let longest = chunk
            .iter()
            .map(|sample| sample.label.len())
            .max()
            .unwrap_or(0);
        for at in 0..longest {
            push_row(&mut drawing, chunk, |sample| {
                sample.label.chars().nth(at).unwrap_or(' ')
            });
        }
    }
    drawing
}

fn push_row(drawing: &mut String, samples: &[Sample], draw: impl Fn(&Sample) -> char) {
    drawing.extend(samples.iter().map(draw));
    drawing.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(values: &[u64]) -> String {
        let sample = |value: &u64| Sample {
            value: *value,
            label: format!("{value}s"),
        };
        sparkline(&values.iter().map(sample).collect::<Vec<_>>())
    }

    #[test]
    fn column_height_is_proportional_to_the_value() {
        assert_eq!(
            draw(&[1, 12, 6]),
            " # \n | \n |#\n_||\n   \n116\ns2s\n s \n"
        );
    }

    #[test]
    fn equal_values_are_a_flat_line() {
        assert_eq!(draw(&[7, 7]), "  \n  \n  \n__\n  \n77\nss\n");
    }

    #[test]
    fn samples_beyond_the_width_go_below() {
        let drawing = draw(&[1; 81]);
        assert_eq!(drawing.lines().map(str::len).max(), Some(80));
        assert!(drawing.ends_with("\n\n \n \n \n_\n \n1\ns\n"), "{drawing}");
    }
}
