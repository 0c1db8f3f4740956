"""Read a page as a browser would: its elements, and the data that its script reads."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from harness.audit.report.collecting import collect
from harness.audit.report.report_page import render_page
from harness.log import SqlDecisionLog


class Page(HTMLParser):
    """The elements of a page, and the text in each block of data by its id.

    `shape` are the tags and attributes in their order. The values of attributes are in `values`.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.shape: list[tuple[str, ...]] = []
        self.values: list[str] = []
        self.blocks: dict[str, str] = {}
        self.texts: list[str] = []
        self.inline: dict[str, str] = {}
        self._within = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shape.append((tag, *(name for name, _ in attrs)))
        self.values += [value or "" for _, value in attrs]
        given = dict(attrs)
        self._within = given.get("id") or "" if given.get("type") == "application/json" else tag

    def handle_endtag(self, tag: str) -> None:
        self.shape.append((f"/{tag}",))
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within in ("script", "style"):
            self.inline[self._within] = self.inline.get(self._within, "") + data
        elif self.rawdata and self.cdata_elem == "script":
            self.blocks[self._within] = self.blocks.get(self._within, "") + data
        else:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.shape.append(("comment", data))

    def data(self, name: str) -> Any:
        return json.loads(self.blocks[name])

    @property
    def rows(self) -> dict[int, Any]:
        return {row["seq"]: row for row in self.data("rows")}

    @property
    def turns(self) -> dict[int, Any]:
        """The turns by the numbers of their first records."""
        return {turn["n"]: turn for turn in self.data("turns")}

    @property
    def said(self) -> str:
        return " ".join(" ".join(self.texts).split())


def strings(value: Any) -> Iterator[str]:
    """Yield every text in JSON, the names of members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif isinstance(value, dict):
        yield from value
        for one in value.values():
            yield from strings(one)


def text_of(log: Path, name: str = "audit.db", last: int = 10_000, size: int = 1 << 26) -> str:
    """Return the page of a log."""
    with SqlDecisionLog.open_for_reading(log) as kept:
        return "".join(render_page(collect(kept, last, size), name))


def page_of(log: Path, **more: Any) -> Page:
    """Return the page of a log, parsed."""
    return Page(text_of(log, **more))
