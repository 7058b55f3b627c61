//! Compiles the texts of scripts.

use mlua::{Function, Lua, LuaString, Result, Table, Value};

/// Compiles texts whose globals are those of one table.
#[derive(Clone)]
pub(super) struct Compiler {
    /// The function of sandbox.lua that compiles a text.
    pub(super) load: Function,
    /// The globals of what is compiled.
    pub(super) front: Table,
}

impl Compiler {
    /// Compiles a text. Bytecode is refused.
    ///
    /// # Errors
    /// The compiler's message.
    pub(super) fn compile(
        &self,
        lua: &Lua,
        text: &[u8],
        name: &[u8],
    ) -> std::result::Result<Function, Vec<u8>> {
        // Lua 5.1 does not protect the name of a chunk from the collector while it compiles.
        lua.gc_stop();
        let loaded = lua.create_string(text).and_then(|text| {
            let parts = (text, lua.create_string(name)?, &self.front);
            self.load
                .call::<(Option<Function>, Option<LuaString>)>(parts)
        });
        lua.gc_restart();
        match loaded {
            Ok((Some(function), _)) => Ok(function),
            Ok((None, Some(message))) => Err(message.as_bytes().to_vec()),
            Ok((None, None)) | Err(_) => Err(b"not enough memory".to_vec()),
        }
    }

    /// Adds `loadstring` and `load` to a table of globals.
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn add_loaders(&self, lua: &Lua, globals: &Table) -> Result<()> {
        let compiler = self.clone();
        let loadstring =
            lua.create_function(move |lua, (text, name): (LuaString, Option<LuaString>)| {
                let bytes = text.as_bytes();
                let name = name.map_or_else(|| bytes.to_vec(), |name| name.as_bytes().to_vec());
                compiler.loaded(lua, &bytes, &name)
            })?;
        globals.raw_set("loadstring", loadstring)?;
        let compiler = self.clone();
        let load =
            lua.create_function(move |lua, (next, name): (Function, Option<LuaString>)| {
                let mut bytes = Vec::new();
                while let Value::String(part) = next.call(())? {
                    if part.as_bytes().is_empty() {
                        break;
                    }
                    bytes.extend_from_slice(&part.as_bytes());
                }
                let name =
                    name.map_or_else(|| b"=(load)".to_vec(), |name| name.as_bytes().to_vec());
                compiler.loaded(lua, &bytes, &name)
            })?;
        globals.raw_set("load", load)
    }

    /// What `loadstring` returns: a function, or nothing and a message.
    fn loaded(&self, lua: &Lua, text: &[u8], name: &[u8]) -> Result<(Value, Value)> {
        Ok(match self.compile(lua, text, name) {
            Ok(function) => (Value::Function(function), Value::Nil),
            Err(message) => (Value::Nil, Value::String(lua.create_string(message)?)),
        })
    }
}
