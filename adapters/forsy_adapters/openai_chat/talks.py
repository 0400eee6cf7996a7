"""Which conversations a record holds: the wrappers in which message lists are met."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.events import Fact, Message
from forsy_retrace.sdk import when

from .answers import REPLIES, answered, compared, is_talk, ranked, read_list
from .ends import failure
from .items import Items
from .place import Json, Place, Told, opened, text_in
from .replies import about, body, instructions, is_completion, is_response
from .search import searched
from .speech import offered
from .streams import is_chunk, is_stream_event
from .swe_agent.actions import moved
from .swe_agent.trajectories import flag, named, place, rest, submitted
from .usage import spent

PROMPTS = ("conversations", "prompt")
"""Lists to the last of which two answers may stand beside them: LLaMA-Factory's rows, TRL's."""
LISTS = (
    *("messages", "history", "chat_history", "traj", "trajectory"),
    *("conversation", "dialogue", *PROMPTS),
)
TIMES = ("timestamp", "created_at", "started_at", "time")
GRADES = {
    # A grader's word on a run, and beside which lists it is one: an envelope says `success` too.
    "reward": LISTS,
    "resolved": LISTS,
    "is_correct": LISTS,
    "success": ("traj", "trajectory"),
}
PATCHES = ("generated_patch", "model_patch")
"""Where rows of runs keep what was handed in."""
IDS = ("session_id", "conversation_id", "thread_id", "chat_id")
DEPTH = 6
MINI = "mini-swe-agent"


class Talk(NamedTuple):
    """What one record tells of one conversation: as much of it as had passed by then."""

    told: list[Told]
    id: str = ""
    """The conversation's id, where the log gives one."""
    after: str = ""
    """The id of the response that it goes on from."""
    response: str = ""
    """The id of the response that it ends with."""


def talks(value: Any, here: Place, depth: int = DEPTH) -> Iterator[Talk]:
    """Every conversation in a value; none where it holds none."""
    value = opened(value)
    if not depth or not isinstance(value, (dict, list)):
        return
    if isinstance(value, list):
        yield from _listed(value, here, depth)
        return
    ident = next((value[k] for k in IDS if isinstance(value.get(k), str) and value[k]), "")
    for talk in _held(value, here, depth):
        yield talk._replace(id=talk.id or ident)


def _held(value: Json, here: Place, depth: int) -> Iterator[Talk]:
    match value:
        case {"request": dict() | str()}:
            yield from _exchange(value, here, "request")
        case {"body": dict(), "path": str()} | {"body": dict(), "url": str()}:
            yield from _exchange(value, here, "body")
        case {"response": {"body": dict()}, "custom_id": _}:
            yield from _reply_alone(value["response"], here.deeper("response"))
        case {"custom_id": _, "body": dict(asked)}:
            yield from _asked(asked, here.deeper("body"))
        case {"answer_generation": {"train_messages": list(runs)} as answer}:
            where = here.deeper("answer_generation")
            facts = [Told(None, Fact(where.origin("system"), "harness", "ToolBench"))]
            facts += offered({"functions": answer.get("function")}, where)
            for index, run in enumerate(runs):
                for talk in talks(run, where.deeper("train_messages", index), depth - 1):
                    last = [*_tried(value, run, here), *spent(answer, where)]
                    told = [*facts, *talk.told, *(last if run is runs[-1] else ())]
                    yield talk._replace(told=told)
        case {"simulations": [dict(), *_] as runs}:
            yield from _listed(runs, here.deeper("simulations"), depth)
        case {"$schemaVersion": str(), "original_input": _}:
            yield from _run_state(value, here)
        case _ if is_completion(value) or is_response(value):
            yield from _reply_alone(value, here)
        case {"object": "list", "data": list(data)} | {"data": [dict(), *_] as data}:
            yield from _listed(data, here.deeper("data"), depth)
        case _:
            yield from _asked(value, here)


def _tried(value: Json, run: Any, here: Place) -> Iterator[Told]:
    """What ToolBench's tree adds to the run that it kept."""
    match value:
        case {"tree": {"tree": dict(tree)}}:
            yield from searched(tree, run, here.deeper("tree", "tree"))


def _listed(value: list[Any], here: Place, depth: int) -> Iterator[Talk]:
    """A list of messages, of items, of chunks, or of conversations."""
    if any(is_chunk(one) or is_stream_event(one) for one in value):
        yield from _reply_alone(value, here)
    elif is_talk(value):
        yield Talk(list(read_list(value, here)))
    else:
        for index, one in enumerate(value):
            if isinstance(one, (dict, list)):
                yield from talks(one, here.deeper(index), depth - 1)


def _asked(value: Json, here: Place) -> Iterator[Talk]:
    """A request, or a whole conversation with what is known of it; its reply may stand beside."""
    asked = _list(value, here) or _input(value, here) or list(compared(value, here))
    if not asked:
        return
    told = [*_setting(value, here), *offered(value, here), *instructions(value, here), *asked]
    answer, more = "", list[Told]()
    for key in REPLIES:
        if value.get(key):
            more, answer = answered(value[key], here.deeper(key))
            break
    told = [*_before(told, more), *more]
    known = {one.event.name for one in more if isinstance(one.event, Fact)}
    facts = {key: value.get(key) for key in ("model", "usage", "error") if key not in known}
    told += about(facts, here._replace(message=here.name))
    told += _ending(value, here)
    yield Talk(told, _conversation(value), text_in(value, "previous_response_id"), answer)


def _list(value: Json, here: Place) -> list[Told]:
    """The conversation that stands as a list."""
    for key in LISTS:
        listed, where = opened(value.get(key)), here.deeper(key)
        if not is_talk(listed):
            continue
        if key == "history":
            return list(_history(value, listed, here))
        return [*read_list(listed, where), *(ranked(value, here) if key in PROMPTS else ())]
    return []


def _history(value: Json, listed: list[Any], here: Place) -> Iterator[Told]:
    """The history of a run of SWE-agent, and what its trajectory adds."""
    steps, where = value.get("trajectory"), here.deeper("trajectory")
    yield from named(listed, here.deeper("history"))
    yield from place(steps, where)
    yield from read_list(listed, here.deeper("history"))
    end = submitted(value.get("info"), here.deeper("info"))
    yield from rest(listed, steps, where, end)
    yield from flag(steps, value.get("info"), here.deeper("info"))


def _input(value: Json, here: Place) -> list[Told]:
    """The conversation that stands as the input of a request or row."""
    listed, where = opened(value.get("input")), here.deeper("input")
    if is_talk(listed):
        return list(read_list(listed, where))
    if isinstance(listed, dict) and is_talk(opened(listed.get("messages"))):
        messages = read_list(opened(listed["messages"]), where.deeper("messages"))
        return [*offered(listed, where), *messages, *ranked(value, here)]
    if (text := text_in(value, "input")) and isinstance(value.get("model"), str):
        return [_typed(text, where)]
    return []


def _before(told: list[Told], reply: list[Told]) -> list[Told]:
    """What was told before a reply, without the copy of it that its writer put into the list."""
    keys = [one.key for one in reply if one.key is not None]
    held = [one for one in told if one.key is not None][-len(keys) :]
    if not keys or [one.key for one in held] != keys:
        return told
    copies = {one.event.origin.message for one in held}
    return [one for one in told if one.event.origin.message not in copies]


def _setting(value: Json, here: Place) -> Iterator[Told]:
    """What mini-swe-agent says of itself, and where its commands run."""
    if not text_in(value, "trajectory_format").startswith(MINI):
        return
    origin, info = here.deeper("info").origin("system"), value.get("info")
    yield Told(None, Fact(origin, "harness", MINI))
    if version := text_in(info, "mini_version"):
        yield Told(None, Fact(origin, "version", version))
    match info:
        case {"config": {"environment": {"cwd": str(cwd)}}}:
            yield from moved(cwd, here.deeper("info", "config", "environment", "cwd"))


def _ending(value: Json, here: Place) -> Iterator[Told]:
    """What a run's own writer says of how it went: a reward, an exit status, its tokens."""
    info = value.get("info")
    if isinstance(info, dict):
        yield from spent(info.get("model_stats"), here.deeper("info", "model_stats"))
    status = text_in(info, "exit_status")
    facts: Json = {"exit_status": status} if status and len(status) < 80 else {}
    facts |= {key: value[key] for key in GRADES if isinstance(value.get(key), (bool, int, float))}
    if facts:
        yield Told(None, Fact(here.origin("system"), "run_end", facts))
    for holder, path in ((info, ("info", "submission")), *((value, (key,)) for key in PATCHES)):
        if work := text_in(holder, path[-1]):
            where = here.deeper(*path)
            yield Told(None, Fact(where.origin("system"), "submission", work))
    for key, beside in GRADES.items():
        if key in facts and any(value.get(listed) for listed in beside):
            grade = facts[key]
            given = int(grade) if isinstance(grade, bool) else grade
            yield Told(None, Fact(here.deeper(key).origin("system"), "reward", given))
            return
    match value:
        case {"reward_info": {"reward": int() | float() as grade}, "messages": list()}:
            where = here.deeper("reward_info", "reward")
            yield Told(None, Fact(where.origin("system"), "reward", grade))
        case {"target": bool(flag), "generated_patch": _, "trajectory": _}:  # Nebius's runs
            yield Told(None, Fact(here.deeper("target").origin("system"), "reward", int(flag)))


def _typed(text: str, here: Place) -> Told:
    """An input that is a text: the user's words."""
    return Told(("user", text.strip()), Message(here.origin("user"), "user", text))


def _conversation(value: Json) -> str:
    held = value.get("conversation")
    return held if isinstance(held, str) else text_in(held, "id")


def _is_model(one: Told) -> bool:
    return isinstance(one.event, Fact) and one.event.name == "model"


def _exchange(value: Json, here: Place, key: str) -> Iterator[Talk]:
    """A request, as it stands under a key, and what came back, or the error that did."""
    asked, there = body(value[key], here.deeper(key))
    at = next((time for key in TIMES if (time := when(value.get(key)))), None)
    here = here._replace(at=at)
    sent: Json = asked if isinstance(asked, dict) else {}
    without = {key: sent[key] for key in sent if key not in REPLIES}
    reply, answer = answered(value.get("response"), here.deeper("response"))
    talks = list(_asked(without, there))
    if not talks and (answer or any(one.key is not None for one in reply)):
        # A look at a reply that was under way, or a turn that the server knows.
        talks = [Talk([], _conversation(sent), text_in(sent, "previous_response_id"))]
    # A request asks for a model by its short name; the reply says which one answered.
    answers = any(_is_model(one) for one in reply)
    for talk in talks:
        told = [one for one in talk.told if not (answers and _is_model(one))]
        told += [*reply, *failure(value, here)]
        yield talk._replace(told=told, response=answer or talk.response)


def _reply_alone(value: Any, here: Place) -> Iterator[Talk]:
    """A reply whose request is not in the log."""
    told, answer = answered(value, here)
    if told:
        after = text_in(value, "previous_response_id")
        yield Talk(told, _conversation(value) if isinstance(value, dict) else "", after, answer)


def _run_state(state: Json, here: Place) -> Iterator[Talk]:
    """A paused run of the Agents SDK: its input, then what was generated."""
    told: list[Told] = []
    asked = state["original_input"]
    where = here.deeper("original_input")
    if isinstance(asked, str) and asked.strip():
        told.append(_typed(asked, where))
    elif isinstance(asked, list):
        told += read_list(asked, where)
    seen = {one.key for one in told}
    key = "session_items" if state.get("session_items") else "generated_items"
    items = Items()
    for index, item in enumerate(state[key] if isinstance(state.get(key), list) else ()):
        if isinstance(item, dict) and isinstance(item.get("raw_item"), dict):
            place = here.deeper(key, index, "raw_item")
            more = items.read(item["raw_item"], place)
            # Nested runs write their own history into both lists.
            told += [one for one in more if one.key is None or one.key not in seen]
    if told:
        yield Talk(told, "", text_in(state, "previous_response_id"))
