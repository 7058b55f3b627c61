-- Makes the globals of functions in libraries: those of scripts, but for `KEYS`, `ARGV` and what only
-- scripts have of `redis`. While a library is loaded, there is nothing but a `redis` of its own.
local globals, front_of, register = ...

local error, next, setmetatable, tostring = error, next, setmetatable, tostring

local function refuse_unknown(_, name)
  error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
end

local at_run = {}
for name, value in next, globals do
  at_run[name] = value
end

local redis, loading = {}, { register_function = register }
for name, value in globals.pairs(globals.redis) do
  redis[name] = value
  if name == "log" or name:find("^LOG_") or name:find("^REDIS_") then
    loading[name] = value
  end
end
redis.breakpoint, redis.debug, redis.replicate_commands = nil, nil, nil
at_run.redis = front_of(redis, {})
setmetatable(at_run, { __index = refuse_unknown })

setmetatable(loading, { __index = refuse_unknown })
local at_load = setmetatable({ redis = front_of(loading, {}) }, { __index = refuse_unknown })

local meta = { __index = at_run }
local front = front_of(at_run, meta)
at_run._G = front

return front, meta, at_run, at_load
