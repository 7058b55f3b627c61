//! A shop on the store's typed values, without any protocol: carts are hashes, orders a list, the ranking a sorted set.

use respire_store::{Config, Edited, Elements, End, EventName, Hash, Kind, List};
use respire_store::{Scope, Store, StringRef, ValueRef, WrongType, ZSet};

/// The name by which observers hear of changes. Its class is a number of the program's own choice.
const SHOP: EventName = EventName {
    class: 1,
    name: "shop",
};

/// Puts a product into a cart, which it leaves by itself at that time.
fn put(store: &Store, cart: &[u8], product: &[u8], until_ms: Option<u64>) -> Result<(), WrongType> {
    store.view(0, 0).update(cart, |slot| {
        let growth = slot.growth::<Hash>();
        slot.edit(SHOP, |cart: &mut Hash| {
            cart.insert_until(product, b"1".as_slice(), until_ms, &growth);
            Edited::Changed(())
        })
    })
}

/// Turns a cart into an order, and counts its products. Other threads see all of it or nothing.
fn order(store: &Store, cart: &[u8], now_ms: u64) -> Result<(), WrongType> {
    let keys: [(u32, &[u8]); 3] = [(0, cart), (0, b"orders"), (0, b"ranking")];
    store.view(0, now_ms).locked(&Scope::Keys(&keys), |view| {
        let mut products = Vec::new();
        view.read(cart, |entry| {
            let cart = entry.map(|entry| entry.typed::<Hash>()).transpose()?;
            let mut add = |(product, _): (StringRef<'_>, _)| products.push(product.to_vec());
            cart.iter().for_each(|cart| cart.for_each(&mut add));
            Ok(())
        })?;
        view.update(b"orders", |slot| {
            let limits = slot.limits::<List>();
            slot.edit(SHOP, |orders: &mut List| {
                orders.push(End::Right, StringRef::Bytes(cart), limits);
                Edited::Changed(())
            })
        })?;
        view.update(cart, |slot| slot.remove());
        view.update(b"ranking", |slot| {
            let growth = slot.growth::<ZSet>();
            slot.edit(SHOP, |ranking: &mut ZSet| {
                for product in &products {
                    let sold = ranking.read().score(product).unwrap_or(0.0);
                    ranking.insert(product, sold + 1.0, &growth);
                }
                Edited::Changed(())
            })
        })
    })
}

/// The products that sold best, and how often. A copy shares the parts of the set, so no key is locked meanwhile.
fn best(store: &Store, count: usize) -> Vec<(String, f64)> {
    let mut best = Vec::new();
    let copy = store
        .view(0, 0)
        .read(b"ranking", |entry| Some(entry?.owned()));
    if let Some(ValueRef::ZSet(ranking)) = copy.as_ref().map(|copy| copy.value()) {
        ranking.for_range(0, count, true, &mut |(product, sold)| {
            let product = String::from_utf8_lossy(&product.to_bytes()).into_owned();
            best.push((product, sold));
        });
    }
    best
}

pub(crate) fn main() -> Result<(), WrongType> {
    let store = Store::new(Config::default());
    put(&store, b"cart:ada", b"tea", None)?;
    put(&store, b"cart:ada", b"cake", Some(60_000))?;
    put(&store, b"cart:bob", b"tea", None)?;
    order(&store, b"cart:bob", 1_000)?;
    order(&store, b"cart:ada", 60_000)?; // The cake is gone.
    assert_eq!(best(&store, 10), [("tea".to_owned(), 2.0)]);
    assert_eq!(put(&store, b"orders", b"tea", None), Err(WrongType));
    Ok(())
}
