//! The rows of the table.

use serde::Serialize;

use respire_bench::workload::Workload;

/// One load that every server of the table gets.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name for `--row`.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Connections.
    pub clients: usize,
    /// The workload. Every key is stored before the first round.
    pub workload: Workload,
}

/// The rows, in document order.
pub fn rows() -> impl Iterator<Item = Row> {
    let set = Workload::mixed(1, 0);
    let get = Workload::mixed(0, 1);
    let pipelined = |workload: &Workload, pipeline| Workload {
        pipeline,
        ..workload.clone()
    };
    [
        Row {
            name: "get-pipelined",
            title: "GET, pipeline 64, 20 connections, 1M random keys, 3 B",
            clients: 20,
            workload: pipelined(&get, 64),
        },
        Row {
            name: "set-pipelined",
            title: "SET, pipeline 64, 20 connections, 1M random keys, 3 B",
            clients: 20,
            workload: pipelined(&set, 64),
        },
        Row {
            name: "mix-pipelined",
            title: "SET:GET 1:10, pipeline 30, 32 connections, 1M random keys, 256 B, all hits",
            clients: 32,
            workload: Workload {
                data_size: 256,
                ..pipelined(&Workload::mixed(1, 10), 30)
            },
        },
        Row {
            name: "set-1",
            title: "SET, no pipeline, 1 connection, 1M random keys, 3 B",
            clients: 1,
            workload: set.clone(),
        },
        Row {
            name: "set-15",
            title: "SET, no pipeline, 15 connections, 1M random keys, 3 B",
            clients: 15,
            workload: set.clone(),
        },
        Row {
            name: "set-120",
            title: "SET, no pipeline, 120 connections, 1M random keys, 3 B",
            clients: 120,
            workload: set.clone(),
        },
        Row {
            name: "set-1000",
            title: "SET, no pipeline, 1,000 connections, 1M random keys, 3 B",
            clients: 1000,
            workload: set.clone(),
        },
        Row {
            name: "get-large",
            title: "GET, no pipeline, 4 connections, 256 random keys, 1 MiB",
            clients: 4,
            workload: large(&get),
        },
        Row {
            name: "set-large",
            title: "SET, no pipeline, 4 connections, 256 random keys, 1 MiB",
            clients: 4,
            workload: large(&set),
        },
    ]
    .into_iter()
}

/// The same workload with values of 1 MiB, and with fewer keys.
fn large(workload: &Workload) -> Workload {
    Workload {
        data_size: 1 << 20,
        key_space: 256,
        ..workload.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_valid_load_with_a_unique_name() {
        let mut names: Vec<&str> = rows()
            .map(|row| {
                row.workload.check().unwrap();
                row.name
            })
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
