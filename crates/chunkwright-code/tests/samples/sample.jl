# Фигуры: shapes and their measures.
"""
    Shapes

Measures of «фигуры».
"""
module Shapes

using LinearAlgebra
using Base: show, print
import Base.Math: sin
include("colors.jl")

export Circle, area

const PI2 = 6.28
limit = max(1, 2)

abstract type Shape end

"A circle."
struct Circle{T<:Real} <: Shape
    radius::T

    Circle(r::T) where {T} = new{T}(r)
    function Circle(a, b)
        new(a + b)
    end
end

Base.@kwdef mutable struct Square <: Shape
    side::Int = 1
end

primitive type Tiny 8 end

"""
    area(shape)

How large it is.
"""
function area(c::Circle)
    r = c.radius
    if r > 0
        return r^2
    else
        return 0
    end
end

area(s::Square) = s.side^2
scale(s::T, by)::T where {T<:Shape} = s
twice(x::T) where T = 2x

function Base.show(io::IO, c::Circle)
    print(io, "круг ", c.radius)
end

Base.:+(a::Circle, b::Circle) = Circle(a.radius + b.radius)
(s::Square)(x) = s.side * x

@inline function fast(x)
    inner(y) = y + 1
    inner(x)
end

macro twice(ex)
    quote
        $(esc(ex))
        $(esc(ex))
    end
end

function later end

module Inner
f() = 1
end

if VERSION > v"1.6"
    newer() = true
end

map([1, 2]) do x
    x + 1
end

end
