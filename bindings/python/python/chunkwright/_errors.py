"""The exceptions: one class for each code of the engine's table, below `ChunkwrightError`."""

from . import _chunkwright

__all__ = [name for name in vars(_chunkwright) if name.endswith("Error")]
globals().update((name, getattr(_chunkwright, name)) for name in __all__)
