//! The methods of an application that has the key-value commands among its own.

/// Writes the methods of [`App`](respire_engine::App) that the key-value commands need, inside an
/// application that implements [`HasKv`](crate::HasKv): each hands on to its [`Kv`](crate::Kv).
///
/// Without them the commands run, but nobody removes what has expired, `WATCH` sees no change,
/// `EXEC` is not atomic, pipelines are not looked ahead into, and `CONFIG` and `INFO` know nothing of
/// keys. Those that the application
/// writes itself are named behind `but`; they should call the [`Kv`](crate::Kv)'s as well.
///
/// ```
/// use respire_commands::{ConnStats, HasKv, Kv, add_to, kv_methods};
/// use respire_engine::{App, Metrics, Now, Router};
/// use respire_store::{Config, Store};
///
/// struct Shop {
///     kv: Kv,
/// }
///
/// impl App for Shop {
///     type Conn = ConnStats;
///
///     fn metrics(&self, now: Now, out: &mut Metrics) {
///         self.kv.metrics(now, out);
///         out.counter("shop_orders", "Orders taken.", &[], 0);
///     }
///
///     kv_methods!(but metrics);
/// }
///
/// impl HasKv for Shop {
///     fn kv(&self) -> &Kv {
///         &self.kv
///     }
///
///     fn conn_stats(conn: &mut ConnStats) -> &mut ConnStats {
///         conn
///     }
/// }
///
/// let kv = Kv::new(Store::new(Config::default()));
/// let mut client = add_to(Router::new(Shop { kv })).client();
/// let mut other = client.connect();
/// client.call("WATCH key");
/// other.call("SET key changed");
/// client.call("MULTI");
/// client.call("GET key");
/// assert_eq!(client.call("EXEC"), respire_engine::Null);
/// ```
#[macro_export]
macro_rules! kv_methods {
    () => {
        $crate::kv_methods!(but);
    };
    (but $($own:ident),* $(,)?) => {
        $crate::__kv_method!(databases [$($own)*]);
        $crate::__kv_method!(admit [$($own)*]);
        $crate::__kv_method!(guards [$($own)*]);
        $crate::__kv_method!(looks_ahead [$($own)*]);
        $crate::__kv_method!(expect_key [$($own)*]);
        $crate::__kv_method!(expect_entry [$($own)*]);
        $crate::__kv_method!(atomically [$($own)*]);
        $crate::__kv_method!(watch [$($own)*]);
        $crate::__kv_method!(info [$($own)*]);
        $crate::__kv_method!(info_sections [$($own)*]);
        $crate::__kv_method!(metrics [$($own)*]);
        $crate::__kv_method!(settings [$($own)*]);
        $crate::__kv_method!(turn_ended [$($own)*]);
        $crate::__kv_method!(tick [$($own)*]);
        $crate::__kv_method!(reset_stats [$($own)*]);
    };
}

/// One of the methods, unless it is in the list.
#[doc(hidden)]
#[macro_export]
macro_rules! __kv_method {
    (databases [databases $($own:ident)*]) => {};
    (admit [admit $($own:ident)*]) => {};
    (guards [guards $($own:ident)*]) => {};
    // An `admit` of one's own may refuse what the key-value commands would not.
    (guards [admit $($own:ident)*]) => {};
    (looks_ahead [looks_ahead $($own:ident)*]) => {};
    (expect_key [expect_key $($own:ident)*]) => {};
    (expect_entry [expect_entry $($own:ident)*]) => {};
    (atomically [atomically $($own:ident)*]) => {};
    (watch [watch $($own:ident)*]) => {};
    (info [info $($own:ident)*]) => {};
    (info_sections [info_sections $($own:ident)*]) => {};
    (metrics [metrics $($own:ident)*]) => {};
    (settings [settings $($own:ident)*]) => {};
    (turn_ended [turn_ended $($own:ident)*]) => {};
    (tick [tick $($own:ident)*]) => {};
    (reset_stats [reset_stats $($own:ident)*]) => {};
    ($method:ident [$other:ident $($own:ident)*]) => {
        $crate::__kv_method!($method [$($own)*]);
    };
    (databases []) => {
        fn databases(&self) -> u32 {
            $crate::__engine::App::databases($crate::HasKv::kv(self))
        }
    };
    (admit []) => {
        fn admit(
            &self,
            spec: &$crate::__engine::Spec,
            now: $crate::__engine::Now,
        ) -> ::core::result::Result<(), $crate::__engine::Error> {
            $crate::__engine::App::admit($crate::HasKv::kv(self), spec, now)
        }
    };
    (guards []) => {
        fn guards(&self, spec: &$crate::__engine::Spec) -> bool {
            $crate::__engine::App::guards($crate::HasKv::kv(self), spec)
        }
    };
    (looks_ahead []) => {
        fn looks_ahead(&self) -> bool {
            $crate::__engine::App::looks_ahead($crate::HasKv::kv(self))
        }
    };
    (expect_key []) => {
        fn expect_key(&self, db: u32, key: &[u8]) -> u64 {
            $crate::__engine::App::expect_key($crate::HasKv::kv(self), db, key)
        }
    };
    (expect_entry []) => {
        fn expect_entry(&self, db: u32, expected: u64) -> u64 {
            $crate::__engine::App::expect_entry($crate::HasKv::kv(self), db, expected)
        }
    };
    (atomically []) => {
        fn atomically(
            &self,
            scope: &$crate::__engine::Scope<'_>,
            now: $crate::__engine::Now,
            body: &mut dyn FnMut(&mut dyn ::core::any::Any),
        ) {
            $crate::__engine::App::atomically($crate::HasKv::kv(self), scope, now, body);
        }
    };
    (watch []) => {
        fn watch(
            &self,
            db: u32,
            key: &[u8],
            now: $crate::__engine::Now,
        ) -> ::std::boxed::Box<dyn $crate::__engine::Watch> {
            $crate::__engine::App::watch($crate::HasKv::kv(self), db, key, now)
        }
    };
    (info []) => {
        fn info(
            &self,
            section: &str,
            now: $crate::__engine::Now,
            out: &mut $crate::__engine::InfoWriter,
        ) {
            $crate::__engine::App::info($crate::HasKv::kv(self), section, now, out);
        }
    };
    (info_sections []) => {
        fn info_sections(&self) -> &'static [&'static str] {
            $crate::__engine::App::info_sections($crate::HasKv::kv(self))
        }
    };
    (metrics []) => {
        fn metrics(&self, now: $crate::__engine::Now, out: &mut $crate::__engine::Metrics) {
            $crate::__engine::App::metrics($crate::HasKv::kv(self), now, out);
        }
    };
    (settings []) => {
        fn settings(self: &::std::sync::Arc<Self>) -> ::std::vec::Vec<$crate::__engine::Setting> {
            $crate::settings(self)
        }
    };
    (turn_ended []) => {
        fn turn_ended(&self, conn: &mut Self::Conn) {
            let stats = <Self as $crate::HasKv>::conn_stats(conn);
            $crate::__engine::App::turn_ended($crate::HasKv::kv(self), stats);
        }
    };
    (tick []) => {
        fn tick(
            &self,
            now: $crate::__engine::Now,
        ) -> ::core::option::Option<::core::time::Duration> {
            $crate::__engine::App::tick($crate::HasKv::kv(self), now)
        }
    };
    (reset_stats []) => {
        fn reset_stats(&self) {
            $crate::__engine::App::reset_stats($crate::HasKv::kv(self));
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::{ConnStats, HasKv, Kv, add_to};
    use respire_engine::{App, Error, Flags, Now, Router, Spec};
    use respire_store::{Config, Store};

    macro_rules! app {
        ($name:ident { $($item:item)* } but $($own:ident)*) => {
            struct $name(Kv);

            impl App for $name {
                type Conn = ConnStats;

                $($item)*

                kv_methods!(but $($own)*);
            }

            impl HasKv for $name {
                fn kv(&self) -> &Kv {
                    &self.0
                }

                fn conn_stats(conn: &mut ConnStats) -> &mut ConnStats {
                    conn
                }
            }
        };
    }

    app!(Handing {} but);
    app!(Closed {
        fn admit(&self, _: &Spec, _: Now) -> Result<(), Error> {
            Err(Error::new("ERR", "closed"))
        }
    } but admit);

    fn kv(cached_bytes: usize) -> Kv {
        Kv::new(Store::new(Config {
            cached_bytes,
            ..Config::default()
        }))
    }

    #[test]
    fn what_is_known_ahead_is_that_of_the_kv_inside() {
        let app = Handing(kv(0));
        let hash = app.expect_key(0, b"key");
        assert!(app.looks_ahead() && !Handing(kv(1)).looks_ahead());
        assert_eq!(hash, app.0.expect_key(0, b"key"));
        app.0
            .store()
            .view(0, 0)
            .update(b"key", |slot| slot.set(1, respire_store::Expiry::Clear));
        assert_eq!(app.expect_entry(0, hash), app.0.expect_entry(0, hash));
        assert_ne!(
            app.expect_entry(0, hash),
            app.expect_entry(0, app.expect_key(0, b"other"))
        );
    }

    #[test]
    fn admit_of_ones_own_is_asked_of_every_command_and_that_of_the_kv_of_those_that_need_memory() {
        let spec = |flags| Spec {
            flags,
            ..Spec::EMPTY
        };
        let app = Handing(kv(0));
        assert!(app.guards(&spec(Flags::DENYOOM)) && !app.guards(&spec(Flags::READONLY)));
        let mut client = add_to(Router::new(Closed(kv(0)))).client();
        assert_eq!(client.call("GET key"), Error::new("ERR", "closed"));
        let mut client = add_to(Router::new(Handing(kv(0)))).client();
        assert_eq!(client.call("GET key"), respire_engine::Null);
    }
}
