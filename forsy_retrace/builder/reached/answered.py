"""What the answer of a service, a page or a database shows to have changed there.

Only its own word counts: ids and addresses that it names, the page that it shows, the rows that it
counts. What a request was meant to do is none.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.sdk import parsed
from forsy_retrace.trace import Step

from ..outputs.printed import bare_output, texts_within
from .asked import reaches, tables


class Page(NamedTuple):
    """A page that a browser showed."""

    address: str
    title: str

    def __str__(self) -> str:
        return f"{self.address}, titled “{self.title}”" if self.title else self.address


PAGES = (
    later(r"(?m)^- Page URL: (?P<address>\S+)(?:\n- Page Title: (?P<title>[^\n]+))?"),
    later(
        r"(?m)^- Executed on tabId: (?P<tab>\S+)\n(?:[^\n]*\n){1,40}?"
        r"\s*• tabId (?P=tab): \"(?P<title>[^\n]*)\" \((?P<address>\S+)\)"
    ),
    later(r"\A(?:opened|navigated to)[: ]+(?P<address>[a-z]+://\S+)"),
)
"""How the tools that drive a browser say which page it shows: Playwright's, Claude's, OpenClaw's."""
BROWSES = ("browser", "computer_use")


def page_of(step: Step) -> Page | None:
    """The page that a browser shows when a call has ended."""
    if step.surface not in BROWSES or step.result is None:
        return None
    text = bare_output(step)
    found = next(filter(None, (pattern.search(text) for pattern in PAGES)), None)
    if found is None:
        return None
    parts = found.groupdict()
    return Page(parts["address"], (parts.get("title") or "").strip())


def page_changed(step: Step, before: Page | None) -> str | None:
    """Another page than before, where a call shows one and did not only look."""
    page = page_of(step)
    if page is None or page == before or step.success is False or step.operation in LOOKS:
        return None
    return f"The page is now {page}."


LOOKS = ("read", "search", "verify", "download")
ACTS = ("api", "mcp_tool", "mcp_resource", "messaging")
"""Surfaces on which an answer tells what was done."""
LONGEST = 200
"""Letters of an answer that is quoted."""


def answer(step: Step) -> str | None:
    """What the answer to a call that acts names, or says in one line."""
    if step.surface not in ACTS or step.operation in LOOKS or step.success is False:
        return None
    if step.result is None or step.result.outcome == "launched" or not _is_alone(step):
        return None
    text = texts_within(bare_output(step)).strip()
    if text[:1] in ("{", "["):
        return _of_object(text)
    *before, last = text.splitlines() or [""]
    if any(map(REFUSES.search, before)):
        return None
    if len(last) <= LONGEST and ADDRESS.fullmatch(last) and len(before) <= MOST_BEFORE:
        return f"The answer names {last}."
    return f"The answer says “{last}”." if last and not before and len(last) <= LONGEST else None


REFUSES = later(
    r"(?i)\balready exists\b|^\W*(?:error|fatal|failed)\b|\b(?:unauthorized|forbidden|log in|denied)\b"
)
"""How a line above an address says that nothing was made there."""
ADDRESS = later(r"[a-z][a-z0-9+.-]{1,20}://\S+")
MOST_BEFORE = 5
"""Lines that may stand before the address of what was made: warnings, what is under way."""


def _is_alone(step: Step) -> bool:
    """Whether nothing else on its line printed what stands in the output."""
    if step.run is None:
        return step.surface != "messaging"
    simple = reaches(step)
    if simple is None:
        return False
    printing = [one for one in step.run.simples if one.role != "prep"]
    if not simple.captured:
        printing = [one for one in printing if not one.captured]
    return all(one is simple for one in printing)


def _of_object(text: str) -> str | None:
    told = parsed(text)
    for name in WITHIN:
        if isinstance(told, dict) and isinstance(told.get(name), dict):
            told = told[name]
    if not isinstance(told, dict):
        return None
    named = list(_names(told))
    said = told.get("message")
    parts = [f"names {', '.join(named)}"] if named else []
    if isinstance(said, str) and said and "\n" not in said and len(said) <= LONGEST:
        parts.append(f"says “{said}”")
    return f"The answer {' and '.join(parts)}." if parts else None


WITHIN = ("data", "result", "issue", "comment")
"""Members in which services put the one object that an answer is about."""
IDS = ("id", "iid", "number", "identifier", "key", "sha")
ADDRESSES = ("html_url", "web_url", "url", "permalink")
OF_ANOTHER = later(r"\w{1,30}(?:Id|ID|_id)")
MOST = 3


def _names(told: dict[str, Any]) -> Iterator[str]:
    """The ids and the address that an object has, `id 42`; of what it belongs to where it has none."""
    own = [name for name in IDS if _is_name(told.get(name))]
    own = own or [name for name in told if OF_ANOTHER.fullmatch(name) and _is_name(told[name])]
    yield from (f"{name} {told[name]}" for name in own[:MOST])
    yield from [f"{name} {told[name]}" for name in ADDRESSES if _is_name(told.get(name))][:1]


def _is_name(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST and not any(map(str.isspace, value))
    return isinstance(value, int) and not isinstance(value, bool)


ROWS = later(
    r"(?m)^(?:INSERT \d+ (?P<inserted>\d+)|UPDATE (?P<updated>\d+)|DELETE (?P<deleted>\d+)"
    r"|Query OK, (?P<affected>\d+) rows? affected.*|(?P<ddl>CREATE|DROP|ALTER) TABLE)\r?$"
)
"""How PostgreSQL and MySQL say what a statement did."""
DONE = {"CREATE": "created", "DROP": "dropped", "ALTER": "altered"}


def rows_changed(step: Step) -> str | None:
    """The rows that a database counts, and the tables that it made, changed or dropped."""
    if step.surface != "database" or step.operation in LOOKS or step.success is False:
        return None
    said = []
    for found in ROWS.finditer(bare_output(step)):
        if found["ddl"]:
            said.append(f"a table was {DONE[found['ddl']]}")
        else:
            count = next(v for k, v in found.groupdict().items() if v and k != "ddl")
            how = next(k for k, v in found.groupdict().items() if v and k != "ddl")
            said.append(f"{count} {'row' if count == '1' else 'rows'} {how}")
    if not said:
        return None
    named = list(tables(step))
    where = f" ({named[0]})" if len(named) == 1 else ""
    text = ", ".join(said[:MOST_SAID])
    return f"{text[0].upper()}{text[1:]}{where}."


MOST_SAID = 8
STATUS = later(r"(?m)\(HTTP (\d{3})\)|^(?:< )?HTTP/[\d.]+ (\d{3})\b")
"""How gh, and a request that shows the head of its answer, tell the status."""


def status_of(step: Step) -> str:
    """The status of the last answer that a call shows; empty where it shows none."""
    if step.surface != "api":
        return ""
    found = STATUS.findall(bare_output(step))
    return next(filter(None, found[-1])) if found else ""
