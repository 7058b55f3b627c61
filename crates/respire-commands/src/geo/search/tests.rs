//! Tests searches in both forms of sets, and beside other clients.

use super::*;
use crate::geo::shape::{Area, Shape};
use crate::key::testing::Client;
use crate::unlocked::tests::send_and_write_meanwhile;
use respire_store::{Elements, Growth, Kind, Limits, ZSet};

/// Numbers from 0 to 1 that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn place(&mut self) -> Point {
        Point {
            longitude: 300.0 * self.next() - 150.0,
            latitude: 120.0 * self.next() - 60.0,
        }
    }
}

/// Sets of as many places in both forms.
fn sets(numbers: &mut Numbers, len: usize) -> [ZSet; 2] {
    let places: Vec<(String, f64)> = (0..len)
        .map(|nth| (format!("m{nth}"), numbers.place().score()))
        .collect();
    let growth = |elements| Growth {
        limits: Limits {
            elements,
            ..ZSet::LIMITS
        },
        seed: [1, 2, 3, 4],
    };
    [0, u32::MAX].map(|elements| ZSet::from_elements(places.clone(), &growth(elements), &mut || ()))
}

fn names(set: &ZSet, shape: Shape) -> Vec<Vec<u8>> {
    let request = Request::of(shape);
    let points = Points::new(set.read(), &shape);
    let mut name = |member: Element<'_>| member.to_bytes().into_owned();
    let hits = points.find(&request, &mut || (), &mut name);
    let mut names: Vec<Vec<u8>> = hits.into_iter().map(|hit| hit.name).collect();
    names.sort_unstable();
    names
}

#[test]
fn members_found_in_cells_are_all_in_the_area() {
    let mut numbers = Numbers(7);
    let sets = sets(&mut numbers, 300);
    let mut found = 0;
    for nth in 0..500 {
        let size = 2_000.0 * numbers.next() * numbers.next();
        let shape = Shape {
            center: numbers.place(),
            area: match nth % 2 {
                0 => Area::Circle { radius: size },
                _ => Area::Box {
                    width: size,
                    height: 2.0 * size,
                },
            },
            unit: 1000.0,
        };
        let mut expected = Vec::new();
        sets[0].read().for_each(&mut |(member, score)| {
            let distance = shape.distance_within(Point::of_score(score));
            expected.extend(distance.map(|_| member.to_bytes().into_owned()));
        });
        expected.sort_unstable();
        found += expected.len();
        for set in &sets {
            assert_eq!(names(set, shape), expected, "{shape:?}");
        }
    }
    assert!(found > 300, "{found}");
}

#[test]
fn search_looks_only_at_members_near_its_area() {
    let mut numbers = Numbers(11);
    let [set, _] = sets(&mut numbers, 20_000);
    for _ in 0..100 {
        let shape = Shape {
            center: numbers.place(),
            area: Area::Circle { radius: 100.0 },
            unit: 1000.0,
        };
        let points = Points::new(set.read(), &shape);
        assert!(points.len() < 200, "{} of {shape:?}", points.len());
    }
}

/// Adds places on a line, each 11 m from the one before, and returns the names.
fn add_line(client: &mut Client, len: usize) {
    for start in (0..len).step_by(500) {
        let places = (start..len.min(start + 500)).map(|nth| {
            let latitude = 10.0 + nth as f64 / 10_000.0;
            format!(" 10 {latitude} m{nth:05}")
        });
        let places: String = places.collect();
        client.send(&format!("GEOADD k{places}"));
    }
}

#[test]
fn key_is_not_locked_during_a_search_of_many_members() {
    let mut client = Client::new();
    add_line(&mut client, 3000);
    for request in [
        "GEOSEARCH k FROMLONLAT 10 10 BYRADIUS 1000 km ASC",
        "GEORADIUS_RO k 10 10 1000 km COUNT 10",
        "GEORADIUSBYMEMBER k m00000 1000 km WITHDIST",
        "GEOSEARCHSTORE d k FROMLONLAT 10 10 BYRADIUS 1000 km",
        "GEORADIUS k 10 10 1000 km STOREDIST d",
    ] {
        let write = || "PEXPIRE k 1000000".to_owned();
        let (reply, is_unlocked) = send_and_write_meanwhile(&mut client, request, write);
        assert!(!reply.starts_with('-'), "{request}: {reply}");
        assert!(
            !is_unlocked.is_empty() && !is_unlocked.contains(&false),
            "{request}: {is_unlocked:?}"
        );
    }
}

#[test]
fn long_reply_has_all_members_in_order() {
    let mut client = Client::new();
    add_line(&mut client, 3000);
    let reply = client.send("GEOSEARCH k FROMLONLAT 10 10 BYRADIUS 1000 km ASC");
    let members: String = (0..3000)
        .map(|nth| format!("$6\r\nm{nth:05}\r\n"))
        .collect();
    assert_eq!(reply, format!("*3000\r\n{members}"));
    let nearest = client.send("GEOSEARCH k FROMMEMBER m02999 BYRADIUS 1000 km COUNT 2");
    assert_eq!(nearest, "*2\r\n$6\r\nm02999\r\n$6\r\nm02998\r\n");
    let any = client.send("GEOSEARCH k FROMMEMBER m02999 BYRADIUS 1000 km COUNT 100 ANY");
    assert!(any.starts_with("*100\r\n"));
    client.check(&[
        (
            "GEOSEARCHSTORE d k FROMLONLAT 10 10 BYRADIUS 1000 km",
            ":3000\r\n",
        ),
        ("ZCARD d", ":3000\r\n"),
    ]);
}
