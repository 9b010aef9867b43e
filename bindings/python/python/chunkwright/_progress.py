"""Progress bars, where `tqdm` is installed and someone looks."""

from __future__ import annotations

import sys
import warnings
from types import TracebackType
from typing import Any


class Bar:
    """A bar of files, or of what `unit` names, that are done. Without `tqdm` there is none."""

    def __init__(self, title: str, shown: bool = True, *, unit: str = "file") -> None:
        self._title = title
        self._unit = unit
        self._bar: Any = None
        self._shown = shown and (sys.stderr.isatty() or "ipykernel" in sys.modules)

    def run(self, progress: dict[str, Any]) -> None:
        """Show how far a run is."""
        if not self._shown or not progress["files_found"]:
            return
        if self._bar is None:
            try:
                # In a notebook without its widgets the bar is text, of which it would warn.
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    from tqdm.auto import tqdm
            except ImportError:
                self._shown = False
                return
            self._bar = tqdm(total=progress["files_found"], desc=self._title, unit=self._unit)
        self._bar.n = progress["files"]
        self._bar.refresh()

    def step(self, event: dict[str, Any]) -> None:
        """Show how far an evaluation is."""
        if not self._shown:
            return
        if "total" in event:
            self.run({"files": 0, "files_found": event["total"]})
        elif "measured" in event and self._bar is not None:
            self._bar.update(1)

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            if kind is None:
                # There may be fewer than were expected.
                self._bar.total = self._bar.n
                self._bar.refresh()
            self._bar.close()
