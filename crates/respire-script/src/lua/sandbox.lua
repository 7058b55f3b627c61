-- Makes the globals of scripts: what they may use, and tables that they cannot change. Lua 5.1 has
-- no tables that are read-only, so scripts get empty ones in front of them.
local globals, deny_reason = ...

local error, getmetatable, setmetatable = error, getmetatable, setmetatable
local next, pairs, rawget, rawset = next, pairs, rawget, rawset
local tostring, type = tostring, type
local byte, loadstring, setfenv = string.byte, loadstring, setfenv

-- The table behind each front.
local behind = setmetatable({}, { __mode = "k" })

local function refuse()
  error(deny_reason, 2)
end

-- For functions of C, whose errors name no place.
local function refuse_plainly()
  error(deny_reason, 0)
end

local function front_of(real, meta)
  local front = {}
  behind[front] = real
  meta.__index = meta.__index or real
  meta.__newindex = refuse
  return setmetatable(front, meta)
end

for name, library in pairs(globals) do
  if type(library) == "table" then
    globals[name] = front_of(library, {})
  end
end

-- Of a string, `getmetatable` shows a table that cannot be changed either.
local string_meta = front_of({ __index = globals.string }, {})
getmetatable("").__index = behind[globals.string]

setmetatable(globals, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
})
local front = front_of(globals, { __index = globals })
globals._G = front

function globals.getmetatable(...)
  local value = ...
  if type(value) == "string" then
    return string_meta
  end
  if behind[value] then
    return string_meta
  end
  return getmetatable(...)
end

function globals.setmetatable(...)
  local value = ...
  if value ~= nil and behind[value] then
    refuse_plainly()
  end
  return setmetatable(...)
end

function globals.rawset(...)
  local value = ...
  if value ~= nil and behind[value] then
    refuse_plainly()
  end
  return rawset(...)
end

function globals.rawget(...)
  local value, name = ...
  local real = value ~= nil and behind[value]
  if real then
    return rawget(real, name)
  end
  return rawget(...)
end

function globals.next(...)
  local value, name = ...
  local real = value ~= nil and behind[value]
  if real then
    return next(real, name)
  end
  return next(...)
end

function globals.pairs(...)
  local value = ...
  local real = value ~= nil and behind[value]
  if real then
    return function(_, name)
      return next(real, name)
    end, value, nil
  end
  return pairs(...)
end

-- A script cannot stop the collector for those after it.
local collect = globals.collectgarbage
function globals.collectgarbage(option, argument)
  if option == nil or option == "collect" or option == "count" or option == "step" then
    return collect(option, argument)
  end
  if option == "stop" or option == "restart" or option == "setpause" or option == "setstepmul" then
    return 0
  end
  return collect(option, argument)
end

-- `table.insert` and others write into a table without asking its metatable. What a script has written
-- so into a front is removed behind it.
local function clean()
  for front in pairs(behind) do
    for name in pairs(front) do
      rawset(front, name, nil)
    end
  end
end

-- Compiles a text whose globals are `env`. Bytecode can break the interpreter, and is refused.
local function load(text, name, env)
  if byte(text) == 27 then
    return nil, "attempt to load chunk with wrong mode"
  end
  local chunk, message = loadstring(text, name)
  if chunk then
    return setfenv(chunk, env)
  end
  return nil, message
end

return front, clean, front_of, load
