-- `unpack` as safe.rs explains it.
local own, type, unpack, results_max = ...

return function(...)
  local t, i, e = ...
  if type(t) == "table" and i == nil and e == nil and #t <= results_max then
    return own(t)
  end
  if type(t) == "table" and type(i) == "number" and type(e) == "number"
      and i >= -2147483647 and e <= 2147483646 and e - i < results_max then
    return own(t, i, e)
  end
  return unpack(...)
end
