//! Libraries of functions in a state: their globals, and how they register functions.

use super::api::failure;
use super::compiler::Compiler;
use super::failure::Failure;
use crate::flags::Flags;
use mlua::{Function, Lua, LuaString, MultiValue, Result, Table, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// A function that a library has registered.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) name: String,
    pub(crate) description: Option<Box<[u8]>>,
    pub(crate) flags: Flags,
    pub(crate) callback: Function,
    /// Its part of the compiled code of its library.
    pub(crate) code_bytes: usize,
}

/// The error for names of libraries and of functions.
pub(crate) const WRONG_NAME: &str = "Library names can only contain letters, numbers, or \
                                     underscores(_) and must be at least one character long";

/// Whether a name may be that of a library or a function.
pub(crate) fn is_name(name: &[u8]) -> bool {
    let is_right = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    !name.is_empty() && name.iter().all(is_right)
}

/// The functions of the library that is being loaded; `None` if none is.
type Registering = Rc<RefCell<Option<Vec<Registered>>>>;

/// What the code of libraries sees as its globals.
pub(super) struct LibraryGlobals {
    /// The environment of all libraries. It is empty.
    compiler: Compiler,
    /// The table of `front` that says where globals are looked up.
    meta: Table,
    at_run: Table,
    at_load: Table,
    registering: Registering,
}

impl LibraryGlobals {
    /// Makes them of the globals of scripts.
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn new(
        lua: &Lua,
        globals: &Table,
        front_of: &Function,
        compiler: &Compiler,
    ) -> Result<Self> {
        let registering = Registering::default();
        let at_register = Rc::clone(&registering);
        let register = lua.create_function(move |lua, values: MultiValue| {
            let mut registering = at_register.borrow_mut();
            let registered = match registering.as_mut() {
                Some(registered) => Registered::read(lua, &values)?.add_to(registered),
                None => Err("redis.register_function can only be called on FUNCTION LOAD command"),
            };
            registered.map_err(|text| failure(lua, text))
        })?;
        let (front, meta, at_run, at_load) = lua
            .load(include_str!("library.lua"))
            .set_name("=library")
            .call((globals, front_of, register))?;
        let load = compiler.load.clone();
        let compiler = Compiler { load, front };
        compiler.add_loaders(lua, &at_run)?;
        Ok(Self {
            compiler,
            meta,
            at_run,
            at_load,
            registering,
        })
    }

    /// A global as functions see it, and as the code of a library does while it is loaded.
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn get(&self, name: &LuaString) -> Result<[Value; 2]> {
        Ok([self.at_run.raw_get(name)?, self.at_load.raw_get(name)?])
    }

    /// Compiles the code of a library, and runs it with `run`.
    ///
    /// # Errors
    /// The text for the client, without its first code.
    pub(super) fn load(
        &self,
        lua: &Lua,
        code: &[u8],
        run: impl FnOnce(&Function) -> std::result::Result<(), Failure>,
    ) -> std::result::Result<Vec<Registered>, Vec<u8>> {
        let compiled = self
            .compiler
            .compile(lua, code, b"@user_function")
            .map_err(|message| [b"Error compiling function: ", &message[..]].concat())?;
        let code_bytes = compiled.dump(false).len();
        self.registering.replace(Some(Vec::new()));
        let ran = match self.meta.raw_set("__index", &self.at_load) {
            Ok(()) => run(&compiled),
            Err(_) => Err(Failure::out_of_memory()),
        };
        // It replaces a value, which takes no memory.
        let restored = self.meta.raw_set("__index", &self.at_run);
        let mut registered = self.registering.take().unwrap_or_default();
        let count = registered.len().max(1);
        for function in &mut registered {
            // The code in memory is about as long as what it is written as.
            function.code_bytes = code_bytes / count;
        }
        let ended = ran.and(restored.map_err(|_| Failure::out_of_memory()));
        match ended {
            Ok(()) => Ok(registered),
            Err(failure) => Err([b"Error registering functions: ", failure.text()].concat()),
        }
    }
}

impl Registered {
    /// Reads the arguments of `redis.register_function`.
    fn read(lua: &Lua, values: &MultiValue) -> Result<Self> {
        let read = match (values.front(), values.get(1), values.len()) {
            (Some(Value::Table(named)), _, 1) => return Self::read_named(lua, named),
            (Some(_), _, 1) => Err(
                "calling redis.register_function with a single argument is only applicable to Lua \
                 table (representing named arguments).",
            ),
            (Some(name), Some(callback), 2) => match (text_of(lua, name)?, callback) {
                (None, _) => Err("first argument to redis.register_function must be a string"),
                (Some(name), Value::Function(callback)) => {
                    Self::new(name, callback.clone(), None, Flags::default())
                }
                _ => Err("second argument to redis.register_function must be a function"),
            },
            _ => Err("wrong number of arguments to redis.register_function"),
        };
        read.map_err(|text| failure(lua, text))
    }

    fn read_named(lua: &Lua, named: &Table) -> Result<Self> {
        let (mut name, mut description, mut callback) = (None, None, None);
        let mut flags = Flags::default();
        for pair in named.pairs::<Value, Value>() {
            let (key, value) = pair?;
            let Some(key) = text_of(lua, &key)? else {
                let text = "named argument key given to redis.register_function is not a string";
                return Err(failure(lua, text));
            };
            let wrong = match &key.to_ascii_lowercase()[..] {
                b"function_name" => {
                    name = text_of(lua, &value)?;
                    name.is_none().then_some(
                        "function_name argument given to redis.register_function must be a string",
                    )
                }
                b"description" => {
                    description = text_of(lua, &value)?;
                    description.is_none().then_some(
                        "description argument given to redis.register_function must be a string",
                    )
                }
                b"callback" => {
                    callback = value.as_function().cloned();
                    callback.is_none().then_some(
                        "callback argument given to redis.register_function must be a function",
                    )
                }
                b"flags" => match &value {
                    Value::Table(list) => read_flags(lua, list, &mut flags)?,
                    _ => Some(
                        "flags argument to redis.register_function must be a table representing \
                         function flags",
                    ),
                },
                _ => Some("unknown argument given to redis.register_function"),
            };
            if let Some(text) = wrong {
                return Err(failure(lua, text));
            }
        }
        let read = match (name, callback) {
            (Some(name), Some(callback)) => Self::new(name, callback, description, flags),
            (None, _) => Err("redis.register_function must get a function name argument"),
            (_, None) => Err("redis.register_function must get a callback argument"),
        };
        read.map_err(|text| failure(lua, text))
    }

    fn new(
        name: Vec<u8>,
        callback: Function,
        description: Option<Vec<u8>>,
        flags: Flags,
    ) -> std::result::Result<Self, &'static str> {
        let name = String::from_utf8(name).map_err(|_| WRONG_NAME)?;
        if !is_name(name.as_bytes()) {
            return Err(WRONG_NAME);
        }
        Ok(Self {
            name,
            description: description.map(Vec::into_boxed_slice),
            flags,
            callback,
            code_bytes: 0,
        })
    }

    /// Adds it to the functions of its library. Names are the same in either case, as `FCALL` finds
    /// them so.
    fn add_to(self, registered: &mut Vec<Self>) -> std::result::Result<(), &'static str> {
        let is_same = |other: &Self| other.name.eq_ignore_ascii_case(&self.name);
        if registered.iter().any(is_same) {
            return Err("Function already exists in the library");
        }
        registered.push(self);
        Ok(())
    }
}

/// Reads a list of flags. Returns what is wrong with it, if anything is.
fn read_flags(lua: &Lua, list: &Table, flags: &mut Flags) -> Result<Option<&'static str>> {
    for at in 1.. {
        let flag: Value = list.raw_get(at)?;
        if flag.is_nil() {
            break;
        }
        let name = text_of(lua, &flag)?.unwrap_or_default();
        if !flags.set(&name.to_ascii_lowercase()) {
            return Ok(Some("unknown flag given"));
        }
    }
    Ok(None)
}

/// The bytes of a string or a number.
fn text_of(lua: &Lua, value: &Value) -> Result<Option<Vec<u8>>> {
    let text = lua.coerce_string(value.clone())?;
    Ok(text.map(|text| text.as_bytes().to_vec()))
}
