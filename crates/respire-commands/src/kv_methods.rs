//! The methods of an application that has the key-value commands among its own.

/// Writes the methods of [`App`](respire_engine::App) that the key-value commands need, inside an
/// application that implements [`HasKv`](crate::HasKv): each hands on to its [`Kv`](crate::Kv).
///
/// Without them the commands run, but nobody removes what has expired, `WATCH` sees no change,
/// `EXEC` is not atomic, and `CONFIG` and `INFO` know nothing of keys. Those that the application
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
