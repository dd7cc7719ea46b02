"""What a page shows, as a tree of elements, and the figures in its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
ENDED_BY = {
    # element that may be left open: the elements whose beginning ends it, as HTML has it
    "td": {"td", "th", "tr", "tbody"},
    "th": {"td", "th", "tr", "tbody"},
    "tr": {"tr", "tbody"},
    "tbody": {"tbody"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "li": {"li"},
}


@dataclass(slots=True)
class Element:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    inside: list[Element | str] = field(default_factory=list)

    def walk(self) -> Iterator[Element]:
        for part in self.inside:
            if isinstance(part, Element):
                yield part
                yield from part.walk()

    def all(self, tag: str = "", *, cls: str = "", id: str = "") -> list[Element]:
        """The elements inside with this tag, class and id; `id` is a regular expression."""
        return [
            found
            for found in self.walk()
            if (not tag or found.tag == tag)
            and (not cls or cls in found.attributes.get("class", "").split())
            and (not id or re.fullmatch(id, found.attributes.get("id", "")))
        ]

    def one(self, tag: str = "", *, cls: str = "", id: str = "") -> Element:
        found = self.all(tag, cls=cls, id=id)
        assert found, f"the page has no {tag} {cls} {id}"
        return found[0]

    @property
    def cells(self) -> list[str]:
        """The texts of the cells of a row."""
        return [part.text for part in self.inside if isinstance(part, Element) and part.tag in ("td", "th")]

    @property
    def text(self) -> str:
        """All text inside, with single spaces."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for part in self.inside:
            yield part if isinstance(part, str) else "".join(part._texts())


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("page")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while tag in ENDED_BY.get(self.open[-1].tag, ()):
            self.open.pop()
        made = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        depth = next((i for i in range(len(self.open) - 1, 0, -1) if self.open[i].tag == tag), 0)
        if depth and all(between.tag in ENDED_BY for between in self.open[depth + 1 :]):
            del self.open[depth:]

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def page_of(html: str) -> Element:
    builder = _Builder()
    builder.feed(html)
    builder.close()
    return builder.open[0]


def figure(text: str) -> int | None:
    """`≈ 27,865` as 27865, `−3` as -3, None where nothing is known or said."""
    found = re.search(r"[−+]?\d[\d,]*", text)
    return int(found[0].replace(",", "").replace("−", "-")) if found else None


def figures(text: str) -> list[int]:
    """All whole numbers of a sentence, in order."""
    return [int(found.replace(",", "")) for found in re.findall(r"(?<![\d.,])\d[\d,]*(?![\d.])", text)]
