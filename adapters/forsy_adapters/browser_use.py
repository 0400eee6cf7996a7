"""browser-use's histories: the JSON document that `agent.save_history()` writes, a trace each.

A step of the agent holds what it thought, its actions, and their results. Results stand in the
order of the actions; those behind a failure or a change of the page did not run, and have none.
The user's words are logged only within what the model was sent, since 2025. Learnt from 0.13.14
(agent/views.py, agent/service.py), and from a history of 2024, whose steps hold one action each.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.calls import Calls, Verdict
from forsy_retrace.events import (
    Attachment,
    Event,
    Meant,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import Shows, base64_size, between, compact, later, pointer, when, words
from forsy_retrace.source import Record, Source

Json = dict[str, Any]

SHOWS = Shows(
    words="sometimes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="mostly",
    reasoning="yes",
    harness="browser-use",
    stores=("what `agent.save_history()` writes, mostly `AgentHistory.json`",),
    cannot=(
        "the model, its system prompt or the tools on offer",
        "when each action of a step began and ended",
        "the pages as the agent saw them, or screenshots",
        "whether a person or a program gave the task",
    ),
    marks_people=False,
    tools={
        "search": "WebSearch",
        "search_google": "WebSearch",
        "navigate": "WebFetch",
        "go_to_url": "WebFetch",
        "open_tab": "WebFetch",
    },
)

THOUGHTS = (
    *("thinking", "evaluation_previous_goal", "valuation_previous_goal", "memory", "next_goal"),
)
"""What an agent writes before its actions, in the order in which it does; one name is of 2024."""
LOOKS = (
    *("click", "click_element", "click_element_by_index", "scroll", "scroll_down", "scroll_up"),
    *("go_back", "switch", "switch_tab", "close", "close_tab", "find_text", "scroll_to_text"),
    *("dropdown_options", "get_dropdown_options", "extract", "extract_content", "screenshot"),
    *("extract_page_content", "extract_structured_data", "search_page", "find_elements", "wait"),
)
ACTS = (
    *("input", "input_text", "select_dropdown", "select_dropdown_option", "send_keys"),
    *("upload_file", "evaluate", "drag_drop"),
)
"""Actions on a page, by what they do to it; names of the versions since 2024."""
FILES = ("write_file", "append_file", "replace_file", "replace_file_str", "read_file")
NOT_DONE: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    # What tools say where they failed without naming an error.
    (FILES, later(r"Error: |File '[^']{1,200}' not found")),
    ((*LOOKS, *ACTS), later(r"Element index \d+ not available")),
    (("find_text", "scroll_to_text"), later(r"Text '.{1,2000}' not found or not visible", re.S)),
)
LIMIT = "Failed to complete task in maximum steps"
PREPARED = "Initial Actions"
"""The title of the step that a program prepared (service.py, `initial_actions`)."""
MEDIA = {"jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


class Action(NamedTuple):
    """An action of a step, with what came of it."""

    name: str
    sent: Any
    path: str
    call: str


def sniff(source: Source) -> bool:
    """A document with a history of outputs, results and states."""
    return any(_is_history(record.value) for record in source.head[:1])


def _is_history(value: Any) -> bool:
    match value:
        case {"history": [{"model_output": _, "result": list() | dict(), "state": dict()}, *_]}:
            return True
    return False


def read(source: Source) -> Iterator[Event]:
    """Step by step."""
    for record in source.records():
        if _is_history(record.value):
            yield from History(record).events()
        else:
            yield Skipped(Origin(record.here, None, "system"), record.problem or "not a history")


class History:
    """Tells one history."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.calls = Calls()
        self.asked: list[str] = []
        """What the user asked, as far as it is told."""

    def at(self, path: str, at: Any = None, actor: str = "agent", message: str = "") -> Origin:
        """The origin of an event at a pointer."""
        return Origin(self.record.here.at(path), when(at), actor, message or None)

    def events(self) -> Iterator[Event]:
        yield SessionStart(self.at("/history", None, "system"), "")
        for place, step in enumerate(self.record.value["history"]):
            path = pointer("history", place)
            if isinstance(step, dict):
                yield from self._step(step, path)
            else:
                yield Skipped(self.at(path, None, "system"), "not a step")

    def _step(self, step: Json, path: str) -> Iterator[Event]:
        times, state = _dict(step.get("metadata")), _dict(step.get("state"))
        began, ended = times.get("step_start_time"), times.get("step_end_time")
        yield from self._words(step, path, began)
        output = _dict(step.get("model_output"))
        results = list(_each(step.get("result"), path + "/result"))
        is_prepared = state.get("title") == PREPARED and times.get("step_number") == 0
        if is_prepared:
            yield Skipped(self.at(path, began, "system"), "actions that a program prepared")
            return
        yield from self._thoughts(output, path + "/model_output", began)
        actions = list(self._actions(output, path + "/model_output", began))
        yield from (event for event, _ in actions)
        called = [action for _, action in actions if action is not None]
        yield from self._results(step, called, results, ended)
        for key in ("screenshot", "screenshot_path"):
            if state.get(key):
                here = self.at(f"{path}/state/{key}", began, "system")
                yield Skipped(here, "a picture of the page")

    def _words(self, step: Json, path: str, at: Any) -> Iterator[Event]:
        """The task, and what the user asked later, where the model was sent it."""
        sent = words(step.get("state_message"))
        if not sent.startswith("<user_request>") and self.asked:
            return  # a page may hold such marks, too
        told = between(sent, "<user_request>", "</user_request>") or ""
        for place, text in enumerate(_requests(told)):
            if place >= len(self.asked):
                self.asked.append(text)
                here = self.at(path + "/state_message", at, "user")
                yield Message(here, "user", text, within=True)

    def _thoughts(self, output: Json, path: str, at: Any) -> Iterator[Event]:
        inner = _dict(output.get("current_state"))
        held, base = (inner, path + "/current_state") if inner else (output, path)
        for key in THOUGHTS:
            if words(held.get(key)):
                yield Thinking(self.at(base + pointer(key), at, "agent", path), held[key])
        plan = output.get("plan_update")
        for place, item in enumerate(plan if isinstance(plan, list) else ()):
            where = path + pointer("plan_update", place)
            yield (
                Thinking(self.at(where, at, "agent", path), item)
                if words(item)
                else Skipped(self.at(where, at, "system"), "no item of a plan")
            )

    def _actions(self, output: Json, path: str, at: Any) -> Iterator[tuple[Event, Action | None]]:
        for value, where in _each(output.get("action"), path + "/action"):
            held = _dict(value)
            name = next((key for key in held if held[key] is not None and words(key)), "")
            if not name:
                yield Skipped(self.at(where, at, "system"), "no action"), None
                continue
            sent, place = held[name], where + pointer(name)
            call = str(self.calls.issue("", where))
            here = self.at(place, at, "agent", path)
            event = ToolCall(here, call, name, sent, None, _meant(name, sent))
            yield event, Action(name, sent, place, call)

    def _results(
        self, step: Json, actions: list[Action], results: list[tuple[Any, str]], at: Any
    ) -> Iterator[Event]:
        held = [(_dict(value), where) for value, where in results]
        if not actions:
            yield from (self._alone(value, where, at) for value, where in held)
            return
        is_lone = len(held) == 1 < len(actions) and bool(words(held[0][0].get("error")))
        if is_lone and "state_message" not in step:
            # Before results were kept at a failure, its error stood alone for all of the step.
            yield self._alone(*held[0], at)
            return
        last = len(held) - 1
        for place, (value, where) in enumerate(held):
            if place < len(actions):
                yield self._result(actions[place], value, where, at if place == last else None)
            else:
                yield Skipped(self.at(where, at, "system"), "a result of no action")

    def _alone(self, value: Json, where: str, at: Any) -> Event:
        """What stands for all of a step."""
        text = words(value.get("error"))
        if not text:
            return Skipped(self.at(where, at, "system"), "a result of no action")
        here = self.at(where + "/error", at, "system")
        return Notice(here, "limit" if text.startswith(LIMIT) else "model error", text)

    def _result(self, action: Action, value: Json, where: str, at: Any) -> Event:
        key = next((one for one in ("extracted_content", "error") if words(value.get(one))), "")
        output = value[key] if key else None
        if not key and words(value.get("long_term_memory")):
            key, output = "long_term_memory", value["long_term_memory"]
        found = _verdict(action.name, value, where)
        return ToolResult(
            self.at(where + (pointer(key) if key else ""), at),
            action.call,
            output,
            found.outcome,
            found.rule,
            found.basis,
            attachments=tuple(_pictures(value, where)),
        )


def _verdict(name: str, value: Json, where: str) -> Verdict:
    """How an action ended, by its error, or by its words where they say that it did nothing."""
    if words(value.get("error")):
        return Verdict("failed", "error-field", where + "/error")
    said = words(value.get("extracted_content"))
    if any(name in tools and pattern.match(said) for tools, pattern in NOT_DONE):
        return Verdict("failed", "error-text", where + "/extracted_content")
    return Verdict("ok", "no-error", where) if value else Verdict()


def _meant(name: str, sent: Any) -> Meant | None:
    """The known tool that an action works like."""
    match name, sent:
        case "done", {"text": str(text)}:
            return Meant("finish", {"answer": text})
        case "done", {"data": data}:  # in the form that a program asked for
            return Meant("finish", {"answer": compact(data)})
        case "done", _:
            return Meant("finish", sent)
        case "write_file", {"file_name": str(file), "content": str(text), **rest}:
            if rest.get("append") is True:
                return Meant("Edit", {"file_path": file})
            return Meant("Write", {"file_path": file, "content": text})
        case "append_file", {"file_name": str(file)}:
            return Meant("Edit", {"file_path": file})
        case "replace_file" | "replace_file_str", {"file_name": str(file), **rest}:
            edit = {"old_string": rest.get("old_str"), "new_string": rest.get("new_str")}
            return Meant("Edit", {"file_path": file, **edit, "replace_all": True})
        case "read_file", {"file_name": str(file)}:
            return Meant("Read", {"file_path": file})
    for known, names in (("browser_click", LOOKS), ("browser_type", ACTS)):
        if name in names:
            return Meant(known, sent)
    return None


def _requests(told: str) -> list[str]:
    """What the user asked: the task, then each request that followed."""
    first = between(told, "<initial_user_request>", "</initial_user_request>")
    if first is None:
        return [told.strip()] if told.strip() else []
    found = [first.strip()]
    for part in told.split("<follow_up_user_request>")[1:]:
        found.append(part.partition("</follow_up_user_request>")[0].strip())
    return [one for one in found if one]


def _pictures(value: Json, where: str) -> Iterator[Attachment]:
    held = value.get("images")
    for place, one in enumerate(held if isinstance(held, list) else ()):
        match one:
            case {"data": str(data), **rest}:
                ending = words(rest.get("name")).rpartition(".")[2].lower()
                kind = MEDIA.get(ending, "image/png")
                path = where + pointer("images", place, "data")
                yield Attachment(kind, base64_size(data), path)


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _each(value: Any, path: str) -> Iterator[tuple[Any, str]]:
    """The items of a list, or what stands in a list's place, with where each is."""
    if isinstance(value, list):
        yield from ((one, path + pointer(place)) for place, one in enumerate(value))
    elif value is not None:
        yield value, path
