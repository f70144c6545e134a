"""A page as a browser reads it: its elements, and a name that tries to become some."""

from __future__ import annotations

from html.parser import HTMLParser

EVIL = '"><script>alert(1)</script><x y=" \' ${7*7} <%7%> ]]> --> \u2028 </title></svg></style>'
VOID = {"meta", "input"}


class Tags(HTMLParser):
    """Collects elements and checks that they nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.data = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"] and self.seen[-1][1].get("type") == "application/json":
            self.data += data


def tags(text: str) -> Tags:
    found = Tags()
    found.feed(text)
    assert found.open == []
    return found
