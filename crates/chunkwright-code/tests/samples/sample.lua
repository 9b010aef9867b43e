#!/usr/bin/env lua
-- Сетка: a grid of cells.
local class = require("class")
local insert = table.insert
require "strict"

local Grid = {}
Grid.__index = Grid

local WORDS = {
  empty = "пусто",
  full = "полно",
  print = function(word)
    print(word)
  end,
}

--- Makes a grid.
-- @param width how wide
function Grid.new(width, height)
  local self = setmetatable({}, Grid)
  for y = 1, height do
    self[y] = {}
    for x = 1, width do
      self[y][x] = 0
    end
  end
  return self
end

--- Sets a cell.
function Grid:set(x, y, value)
  if value then
    self[y][x] = value
  elseif x > y then
    self[y][x] = 1
  else
    self[y][x] = 0
  end
end

local function clamp(n, low, high)
  local function least(a, b)
    return a < b and a or b
  end
  return least(n, high)
end

Grid.clear = function(self)
  self.cells = {}
end

local each = function(grid, f)
  for _, row in ipairs(grid) do
    f(row)
  end
end

function Grid.util.deep.count(grid)
  return #grid
end

if jit then
  function Grid.fast() end
end

return Grid
