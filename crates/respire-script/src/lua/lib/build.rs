//! What decoders make of bytes: values of Lua, or nothing at all, when only the bytes matter.

use super::raise;
use mlua::{Lua, Result, Table, Value};

/// Makes values for a decoder.
pub(crate) trait Builder {
    /// A finished value.
    type Item;
    /// A table that is being filled.
    type Table;
    /// Why a value cannot be made.
    type Error;

    fn nil(&mut self) -> Self::Item;
    /// JSON's null.
    fn null(&mut self) -> Self::Item;
    fn boolean(&mut self, value: bool) -> Self::Item;
    fn number(&mut self, value: f64) -> Self::Item;
    fn string(&mut self, value: &[u8]) -> std::result::Result<Self::Item, Self::Error>;
    fn table(&mut self) -> std::result::Result<Self::Table, Self::Error>;
    /// Sets the element at an index from 1.
    fn set_index(
        &mut self,
        table: &Self::Table,
        index: i64,
        item: Self::Item,
    ) -> std::result::Result<(), Self::Error>;
    /// Sets the value of a key of any type.
    fn set(
        &mut self,
        table: &Self::Table,
        key: Self::Item,
        item: Self::Item,
    ) -> std::result::Result<(), Self::Error>;
    fn finish(&mut self, table: Self::Table) -> Self::Item;
}

/// Makes values of Lua.
pub(crate) struct LuaBuilder<'a>(pub(crate) &'a Lua);

impl Builder for LuaBuilder<'_> {
    type Item = Value;
    type Table = Table;
    type Error = mlua::Error;

    fn nil(&mut self) -> Value {
        Value::Nil
    }

    fn null(&mut self) -> Value {
        Value::NULL
    }

    fn boolean(&mut self, value: bool) -> Value {
        Value::Boolean(value)
    }

    fn number(&mut self, value: f64) -> Value {
        Value::Number(value)
    }

    fn string(&mut self, value: &[u8]) -> Result<Value> {
        self.0.create_string(value).map(Value::String)
    }

    fn table(&mut self) -> Result<Table> {
        self.0.create_table()
    }

    fn set_index(&mut self, table: &Table, index: i64, item: Value) -> Result<()> {
        table.raw_set(index, item)
    }

    fn set(&mut self, table: &Table, key: Value, item: Value) -> Result<()> {
        match key {
            Value::Nil => Err(raise::text("table index is nil")),
            Value::Number(number) if number.is_nan() => Err(raise::text("table index is NaN")),
            key => table.raw_set(key, item),
        }
    }

    fn finish(&mut self, table: Table) -> Value {
        Value::Table(table)
    }
}

/// Makes nothing, and counts.
#[derive(Default)]
pub(crate) struct Count {
    pub(crate) values: usize,
}

impl Builder for Count {
    type Item = ();
    type Table = ();
    type Error = std::convert::Infallible;

    fn nil(&mut self) {
        self.values += 1;
    }

    fn null(&mut self) {
        self.values += 1;
    }

    fn boolean(&mut self, _: bool) {
        self.values += 1;
    }

    fn number(&mut self, _: f64) {
        self.values += 1;
    }

    fn string(&mut self, _: &[u8]) -> std::result::Result<(), Self::Error> {
        self.values += 1;
        Ok(())
    }

    fn table(&mut self) -> std::result::Result<(), Self::Error> {
        Ok(())
    }

    fn set_index(&mut self, (): &(), _: i64, (): ()) -> std::result::Result<(), Self::Error> {
        Ok(())
    }

    fn set(&mut self, (): &(), (): (), (): ()) -> std::result::Result<(), Self::Error> {
        Ok(())
    }

    fn finish(&mut self, (): ()) {
        self.values += 1;
    }
}
