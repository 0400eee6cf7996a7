"""The messages of the model in one request: as Copilot kept them, or as the client showed them.

Copilot keeps each message of the model with the exact arguments of its calls; the client keeps what
it showed, in order. Where both are there, a call stands in both under one id (Copilot's goes on
with a mark of its own), or, before 1.107, under two, in the same order.
"""

from collections.abc import Iterator
from typing import NamedTuple

from forsy_retrace.sdk import later

from .replay import NOTHING, Node

MARK = "__vscode-"
FENCE = later(r"\s*`{3,}\s*\Z")
"""What the client puts before and behind an edit that it shows."""
INNER = ("vscode_editFile_internal", "vscode_fetchWebPage_internal")
"""Tools that tools of Copilot called, up to 1.106: nobody asked for them."""
CALL = "toolInvocationSerialized"
NAMES = {
    # What the client calls a tool that the model knows by another name (ContributedToolName).
    "copilot_applyPatch": "apply_patch",
    "copilot_searchCodebase": "semantic_search",
    "copilot_searchWorkspaceSymbols": "search_workspace_symbols",
    "copilot_getVSCodeAPI": "get_vscode_api",
    "copilot_findFiles": "file_search",
    "copilot_findTextInFiles": "grep_search",
    "copilot_readFile": "read_file",
    "copilot_viewImage": "view_image",
    "copilot_listDirectory": "list_dir",
    "copilot_getErrors": "get_errors",
    "copilot_getChangedFiles": "get_changed_files",
    "copilot_insertEdit": "insert_edit_into_file",
    "copilot_createFile": "create_file",
    "copilot_createDirectory": "create_directory",
    "copilot_replaceString": "replace_string_in_file",
    "copilot_multiReplaceString": "multi_replace_string_in_file",
    "copilot_editNotebook": "edit_notebook_file",
    "copilot_runNotebookCell": "run_notebook_cell",
    "copilot_fetchWebPage": "fetch_webpage",
    "copilot_memory": "memory",
    "copilot_runInTerminal": "run_in_terminal",
}


class Call(NamedTuple):
    """A call as the model sent it, and as the client showed it."""

    node: Node
    part: Node


class Round:
    """One message of the model."""

    def __init__(self, node: Node, ident: str | None) -> None:
        self.node, self.ident = node, ident
        self.time = node.get("timestamp")
        self.summary = node.get("summary")
        self.thoughts: list[Node] = []
        self.words: list[Node] = []
        self.calls: list[Call] = []
        self.shown: list[Node] = []
        """Calls that only the client shows, behind these."""


def kind_of(part: Node) -> str:
    """The kind of a part of a response: empty for words."""
    kind = part.get("kind").text
    return "" if kind == "markdownContent" else kind


def rounds_of(request: Node) -> list[Round]:
    """The messages of the model, in order."""
    parts = request.get("response").items()
    kept = request.get("result", "metadata", "toolCallRounds").items()
    if any(one.get("toolCalls").items() or one.get("response").text for one in kept):
        return _kept(kept, parts, request.get("result", "metadata", "toolCallResults"))
    return list(_shown(parts, request.get("modelState", "completedAt")))


def _kept(kept: list[Node], parts: list[Node], results: Node) -> list[Round]:
    rounds = [_round(one) for one in kept]
    calls = [(one, node) for one in rounds for node in one.node.get("toolCalls").items()]
    own = [one for one in parts if _is_asked_for(one) and not _is_of_subagent(one)]
    pairs = _paired([node for _, node in calls], own, results)
    for one, node in calls:
        one.calls.append(Call(node, pairs.get(id(node), NOTHING)))
    if own and not pairs:
        own = []  # the same calls under other ids: which is which, nobody can tell
    seen = {id(part): one for one in rounds for _, part in one.calls if part is not NOTHING}
    _thoughts(rounds, parts, seen)
    is_own = {id(one) for one in own}
    now = rounds[0]
    for part in parts:
        now = seen.get(id(part), now)
        is_told = id(part) in seen or not (id(part) in is_own or _is_of_subagent(part))
        if _is_asked_for(part) and not is_told:
            now.shown.append(part)
    return rounds


def _round(node: Node) -> Round:
    one = Round(node, node.get("id").text or None)
    said = node.get("response")
    one.words = [piece for piece in (said, *said.items()) if piece.text.strip()]
    return one


def _is_asked_for(part: Node) -> bool:
    return kind_of(part) == CALL and part.get("toolId").text not in INNER


def _is_of_subagent(part: Node) -> bool:
    return bool(part.get("subAgentInvocationId").text) or part.get("fromSubAgent").held is True


def _paired(nodes: list[Node], own: list[Node], results: Node) -> dict[int, Node]:
    """Which part shows which call: by its id, else by the order where all tools agree."""
    by_id = {part.get("toolCallId").text: part for part in own}
    pairs = {}
    for node in nodes:
        part = by_id.get(node.get("id").text.partition(MARK)[0])
        if part is not None:
            pairs[id(node)] = part
    if pairs:
        return pairs
    names = [_name(part.get("toolId").text) for part in own]
    for some in (nodes, [node for node in nodes if not _failed_at_once(node, results)]):
        if names == [_name(node.get("name").text) for node in some]:
            return {id(node): part for node, part in zip(some, own, strict=True)}
    return {}


def _failed_at_once(node: Node, results: Node) -> bool:
    """Whether the client had nothing to show of a call."""
    told = results.get(node.get("id").text, "content", 0, "value").text
    return told.startswith("ERROR")


def _name(tool: str) -> str:
    return NAMES.get(tool, tool)


def _thoughts(rounds: list[Round], parts: list[Node], seen: dict[int, Round]) -> None:
    """The reasoning of each message; as it was shown, where none of them holds any."""
    for one in rounds:
        thought = one.node.get("thinking", "text")
        one.thoughts = [piece for piece in (thought, *thought.items()) if piece.text.strip()]
    if any(one.thoughts for one in rounds):
        return
    held: list[Node] = []
    begun: set[int] = set()
    for part in parts:
        if kind_of(part) == "thinking":
            held += _thought(part)
        behind = seen.get(id(part))
        if behind is not None and id(behind) not in begun:
            begun.add(id(behind))
            behind.thoughts, held = held, []
    rounds[-1].thoughts += held


def _thought(part: Node) -> list[Node]:
    value = part.get("value")
    return [piece for piece in (value, *value.items()) if piece.text.strip()]


def _shown(parts: list[Node], end: Node) -> Iterator[Round]:
    """Messages as the client showed them: one ends with its call."""
    one = Round(NOTHING, None)
    for part in parts:
        match kind_of(part):
            case "thinking":
                if one.words:
                    yield one
                    one = Round(NOTHING, None)
                one.thoughts += _thought(part)
            case "":
                one.words += _words(part)
            case "inlineReference":
                one.words += _named(part)
            case kind if kind == CALL and _is_asked_for(part):
                one.shown.append(part)
                yield one
                one = Round(NOTHING, None)
    if one.words or one.thoughts:
        one.time = end
        yield one


def _words(part: Node) -> list[Node]:
    """What a part says; none of the fences around an edit."""
    for keys in (("value",), ("content", "value"), ("content",)):
        node = part.get(*keys)
        if node.text:
            return [] if FENCE.match(node.text) else [node]
    return []


def _named(part: Node) -> list[Node]:
    """What stands in the words for a file or a symbol: its name, else its path."""
    reference = part.get("inlineReference")
    for node in (
        part.get("name"),
        reference.get("name"),
        reference.get("path"),
        reference.get("uri", "path"),
    ):
        if node.text:
            return [node]
    return []
