-- What `install` of raise.rs puts in place of Lua's own functions.
local pcall, xpcall, resume, type, unpack_error = ...

local function results(ok, ...)
  if not ok and type(...) == "userdata" then
    return false, unpack_error(...)
  end
  return ok, ...
end

-- As in Redis, an error that is a table with a text `err` is that text for `pcall`.
local function results_of_pcall(ok, ...)
  if ok then
    return ok, ...
  end
  local problem = ...
  if type(problem) == "userdata" then
    problem = unpack_error(problem)
  end
  if type(problem) == "table" then
    local text = problem.err
    if type(text) == "string" or type(text) == "number" then
      problem = text
    end
  end
  return false, problem
end

local function pcall_of_scripts(...)
  return results_of_pcall(pcall(...))
end

-- The handler runs where the error was raised. A fatal error must not reach it: it stays a userdata
-- and is raised again behind `xpcall`.
local function xpcall_of_scripts(f, handler, ...)
  if type(handler) ~= "function" then
    return results(xpcall(f, handler, ...))
  end
  return results(xpcall(f, function(problem)
    if type(problem) == "userdata" then
      local plain, text = pcall(unpack_error, problem)
      if not plain then
        return problem
      end
      problem = text
    end
    return handler(problem)
  end, ...))
end

local function resume_of_scripts(...)
  return results(resume(...))
end

return pcall_of_scripts, xpcall_of_scripts, resume_of_scripts
