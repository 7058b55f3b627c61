-- `unpack` as safe.rs explains it.
-- The names of locals stand in errors, so the function that makes them has the name of this one.
local own, type, unpack, slots = ...

return function(...)
  local t, i, e = ...
  if type(t) == "table" and i == nil and e == nil and #t < slots then
    return own(t)
  end
  if type(t) == "table" and type(i) == "number" and type(e) == "number"
      and i >= -2147483647 and e <= 2147483646 and e - i < slots - 3 then
    return own(t, i, e)
  end
  i, e = unpack(...)
  if e == nil then
    return own(t, i)
  end
  return own(t, i, e)
end
