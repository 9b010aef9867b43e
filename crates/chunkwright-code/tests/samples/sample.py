#!/usr/bin/env python
"""Module doc."""
# license
# more

# about os
import os

import sys  # trailing
from x import (
    a,
    b,
)

X = 1
Y = {
    "a": 1,
    # c
    "b": 2,
}; Z = 3

# free

if TYPE_CHECKING:
    from z import q

try:
    import json
except ImportError:
    # fallback
    def loads(x):
        return x
    json = None

# above
@deco
@deco2(
    1)
# mid
class A(Base):  # tr
    """doc"""
    # about x
    x: int = 1

    y = 2

    # lead of f
    @property
    def f(self):
        # c1
        a = 1

        # c2
        if a:
            b = 2
            c = 3
        elif b:
            pass
        else:
            for x in y:
                pass
                pass
        return [
            1,
            2,
        ]

    if X:
        @overload
        def g(self): ...
        z = 1
    class Inner:
        pass
    # last
async def h(): return 1  # trailing h
def i(): return 2
# end
