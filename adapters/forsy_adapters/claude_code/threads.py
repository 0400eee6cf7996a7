"""In which order a session's records happened, and whose they are.

A session lies in one file and in those of its subagents. Three layouts were met: inline side
chains (1.0 to 2.0.2x), `agent-<id>.jsonl` beside the session (to 2.1.1), and
`<session>/subagents/` (from 2.1.2), while 2.1.11 to 2.1.81 repeat each subagent's messages as
`agent_progress` records in the main file. A lane is one agent's records; the main lane is "".
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, count

import msgspec

from forsy_retrace.events import ToolResult
from forsy_retrace.sdk import order
from forsy_retrace.source import Source

from .lines import Launch, Line, Survey, slug


class Threads(msgspec.Struct, frozen=True):
    """A session's lines in the order in which they happened, and its subagents."""

    lines: list[Line]
    actors: dict[str, str]
    """Lane to actor: `subagent:explore_1`."""
    calls: dict[str, str]
    """Lane to the id of the call that started it."""
    said: set[str]
    """All words of human turns."""
    ends: dict[str, ToolResult]
    """Background command to its end."""
    spilled: dict[str, int]
    """Files that hold outputs which the client cut: name to size in bytes."""
    hooks: dict[str, set[str]]
    """Hook, by its event and tool, to the calls that it was run for."""
    interrupted: set[str]
    """The messages of the model whose calls the user stopped while they ran."""
    mates: dict[str, tuple[str, str]]
    """Agent that may report, by name or id, to its actor and to the call that started it."""
    is_alone: bool
    """Nothing is told of who started the subagents: no message of the main agent is here."""
    repeated: set[tuple[str, str | None]]
    """Uuid and time of records that share them."""


def threads(source: Source, companions: list[Source]) -> Threads:
    """Reads a session's files and puts their records in order."""
    survey = Survey()
    others: dict[str, list[Line]] = {}
    for file in companions:
        if file.path.suffix != ".txt":
            others.setdefault(_lane_of(file), []).extend(_companion(file, survey))
    metas = {_stem(file): file for file in companions if _is_meta(file)}
    later, survey.launches = survey.launches, []
    files = frozenset(lane for lane in others if lane not in metas)
    main = survey.lines(source, files)
    launches = [*survey.launches, *later]
    calls: dict[str, str] = {}
    kinds: dict[str, str] = {}
    names = _read_metas(metas, calls, kinds, others)
    for lane, name in names.items():
        if name in survey.mates:
            calls.setdefault(lane, survey.mates[name])
    for file in companions:
        if (run := survey.runs.get(file.path.parent.name)) is not None:
            calls.setdefault(_lane_of(file), run)
    _assign_lanes(main, launches, calls, files)
    for lane in dict.fromkeys([*(line.lane for line in main if line.lane), *others]):
        _link(lane, chain(main, others.get(lane, ())), launches, survey.agents, calls)
    _mark_branches(main)
    merged = list(_merged(main, others, calls))
    told = {launch.call: launch.kind for launch in launches}
    actors, mates = _actors_of(merged, calls, kinds, told, {**survey.agents, **survey.mates})
    return Threads(
        lines=merged,
        actors=actors,
        calls=calls,
        said=survey.said,
        ends=survey.ends,
        spilled={one.path.name: one.size for one in companions if one.path.suffix == ".txt"},
        hooks=survey.hooks,
        interrupted=survey.interrupted,
        mates=mates,
        is_alone=not any(map(_is_said, merged)),
        repeated=_repeated(merged),
    )


def _actors_of(
    lines: list[Line],
    calls: dict[str, str],
    kinds: dict[str, str],
    told: dict[str, str],
    started: dict[str, str],
) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Lane to actor, and who may report to its actor and call; each kind is counted by itself.

    A kind is that of a name card, or the one `told` of its call. Of some that were `started` no log
    is here.
    """
    numbers: Counter[str] = Counter()

    def another(kind: str) -> str:
        numbers[kind] += 1
        return f"subagent:{kind}_{numbers[kind]}"

    actors: dict[str, str] = {}
    for line in lines:
        if line.lane and line.lane not in actors and not line.skip:
            kind = kinds.get(line.lane) or told.get(calls.get(line.lane, ""))
            actors[line.lane] = another(kind or "agent")
    lanes = {call: lane for lane, call in calls.items() if lane in actors}
    mates = {
        name: (actors.get(lanes.get(call, "")) or another(told.get(call) or "agent"), call)
        for name, call in started.items()
    }
    return actors, mates


def _repeated(lines: list[Line]) -> set[tuple[str, str | None]]:
    """Uuid and time of records that share them."""
    met = Counter(
        (line.uuid, line.at)
        for line in lines
        if line.uuid is not None and not line.skip and not line.prefix
    )
    return {key for key, times in met.items() if times > 1}


def _is_meta(file: Source) -> bool:
    return file.path.name.endswith(".meta.json")


def _stem(file: Source) -> str:
    return file.path.stem.removesuffix(".meta")


def _lane_of(file: Source) -> str:
    lane = _stem(file)
    return lane if _is_meta(file) else lane.removeprefix("agent-")


def _companion(file: Source, survey: Survey) -> list[Line]:
    """A subagent's own file. Warm-ups and the client's summariser are no work."""
    lines = survey.lines(file, own=True)
    lane = _stem(file)
    reason = ""
    if lane == "journal":
        reason = "a workflow's journal"
    elif "acompact" in lane:
        reason = "the client's own summariser"
    elif lines and lines[0].words.strip() == "Warmup":
        reason = "warm-up of a subagent"
    for line in lines:
        line.lane = lane.removeprefix("agent-")
        line.skip = line.skip or reason
    first = next((line for line in lines if not line.is_meta), None)
    if first is not None and (not first.parent or first is not lines[0]):
        first.brief = first.kind == "user" and not first.has_results
    return lines


def _read_metas(
    metas: dict[str, Source],
    calls: dict[str, str],
    kinds: dict[str, str],
    others: dict[str, list[Line]],
) -> dict[str, str]:
    """What the name cards of subagents say: the call that started each, its kind and its name.

    The kind of a team's member is its name, unless the card tells another (2.1.286).
    """
    names: dict[str, str] = {}
    for stem, file in metas.items():
        lane = stem.removeprefix("agent-")
        for line in others.get(stem, ()):
            line.lane = lane
            line.skip = line.skip or "a subagent's name card"
        for record in file.records():
            match record.value:
                case {"toolUseId": str(call)}:
                    calls[lane] = call
            match record.value:
                case {"customAgentType": str(kind)}:
                    kinds[lane] = slug(kind)
                case {"agentType": str(kind), **rest} if kind != rest.get("name"):
                    kinds[lane] = slug(kind)
            match record.value:
                case {"teamName": str(), "name": str(name)}:
                    names[lane] = name
    return names


def _assign_lanes(
    main: list[Line], launches: list[Launch], calls: dict[str, str], files: frozenset[str]
) -> None:
    """Gives each record of the main file its lane: side chains, nested progress, streams."""
    lanes: dict[str, str] = {}
    for line in main:
        is_first = line.kind == "user" and not line.has_results
        if line.prefix:
            line.brief = is_first
            if line.under:
                calls.setdefault(line.lane, line.under)
        elif line.under:
            line.lane = calls[line.under] = line.under
            line.brief = is_first
        elif line.is_side:
            if line.agent in files:
                line.lane = line.agent
            elif line.parent in lanes:
                line.lane = lanes[line.parent]
            else:
                line.lane = line.agent or line.uuid or "side"
                line.brief = is_first
                if line.words.strip() == "Warmup":
                    line.skip = "warm-up of a subagent"
                elif not line.agent:
                    _claim(line.lane, line.words, launches, calls)
            if line.uuid is not None:
                lanes[line.uuid] = line.lane


def _claim(lane: str, brief: str, launches: list[Launch], calls: dict[str, str]) -> None:
    """Old side chains name no call: the brief's words do."""
    for launch in launches:
        if not launch.taken and launch.prompt and launch.prompt.strip() == brief.strip():
            launch.taken = True
            calls[lane] = launch.call
            return


def _link(
    lane: str,
    lines: Iterable[Line],
    launches: list[Launch],
    agents: dict[str, str],
    calls: dict[str, str],
) -> None:
    if lane in calls:
        return
    if lane in agents:
        calls[lane] = agents[lane]
        return
    first = next((line for line in lines if line.lane == lane and line.brief), None)
    if first is not None:
        _claim(lane, first.words, launches, calls)


def _mark_branches(main: list[Line]) -> None:
    """What hung on a human's words was left behind where the session goes on along another line.

    Of several tries at one place, the last goes on, unless the session's last message hangs on
    another. A replayed history has the same parent and the same time; a rewind another time.
    """
    by_name: dict[str, Line] = {}
    children: dict[str, list[Line]] = defaultdict(list)
    prompts: dict[str, list[Line]] = defaultdict(list)
    for line in main:
        if line.lane or line.skip:
            continue
        by_name.setdefault(line.uuid or "", line)
        if line.parent is not None:
            children[line.parent].append(line)
            if line.is_prompt:
                prompts[line.parent].append(line)
    last = next((line for line in reversed(main) if _is_said(line)), None)
    kept = {line.uuid for line in _up(last, by_name)}
    numbers = count(1)
    for place, tries in prompts.items():
        times = [line.at for line in children[place]]
        if any(times.count(line.at) > 1 for line in tries):
            continue
        left = [line for line in tries if line.uuid not in kept]
        for dead in left if place in kept else tries[:-1]:
            above = _up(by_name.get(place), by_name)
            dead.follows = next((one for one in above if one.kind == "assistant"), None)
            dead.is_fork = True
            _mark(dead, f"b{next(numbers)}", children)


def _mark(dead: Line, branch: str, children: dict[str, list[Line]]) -> None:
    """A line and all that hangs on it are of a branch, unless they are of one already."""
    held = [dead]
    while held:
        line = held.pop()
        if not line.branch:
            line.branch = branch
            held.extend(children.get(str(line.uuid), ()))


def _is_said(line: Line) -> bool:
    """A message of the conversation itself."""
    return line.kind in ("user", "assistant") and not line.lane and not line.skip


def _up(line: Line | None, by_name: dict[str, Line]) -> Iterator[Line]:
    """A record, what it hangs on, and so on to the first; each once."""
    seen: set[int] = set()
    while line is not None and id(line) not in seen:
        seen.add(id(line))
        yield line
        line = by_name.get(line.parent) if line.parent is not None else None


def _merged(
    main: list[Line], others: dict[str, list[Line]], calls: dict[str, str]
) -> Iterator[Line]:
    """Main lane in file order; a subagent's records from its call to its result, by time.

    Clients that kept all in one file wrote each subagent's records when it had ended.
    """
    inline = {line.lane for line in main if line.is_side and line.lane in calls} - others.keys()
    others = others.copy()
    for line in main:
        if line.lane in inline:
            others.setdefault(line.lane, []).append(line)
    main = [line for line in main if line.lane not in inline]
    if not others:
        yield from main
        return
    lanes = _Lanes(main, others, calls)
    lane_of = {call: lane for lane, call in calls.items() if lane in others}
    now = ""
    for line in main:
        now = max(now, order(line.at))
        if line.at:
            yield from lanes.until(order(line.at))
        if line.kind == "user" and not line.is_launched:
            for call in line.answers:
                if call in lane_of:
                    yield from lanes.rest_of(lane_of[call], order(line.at))
        yield line
        lanes.start(line, order(line.at) or now)
    yield from lanes.until("\uffff")
    yield from lanes.never_started()


class _Lanes:
    """The lanes of the subagents beside the main one, and how far each has come."""

    def __init__(
        self, main: list[Line], others: dict[str, list[Line]], calls: dict[str, str]
    ) -> None:
        self.lines = others
        self.order = {lane: number for number, lane in enumerate(others)}
        self.position = dict.fromkeys(others, 0)
        self.waiting: dict[str, list[str]] = defaultdict(list)
        """The lanes that a call starts, by its id."""
        self.running: list[tuple[str, int, str]] = []
        """A heap of the lanes that were started: the time of the next record, order and lane."""
        issued = {one for lines in (main, *others.values()) for line in lines for one in line.calls}
        for lane in others:
            launch = calls.get(lane.removeprefix("agent-"))
            if launch in issued:
                self.waiting[launch].append(lane)
            else:
                self._run(lane, "")

    def _run(self, lane: str, not_before: str) -> None:
        """The lane stands in line for its next record, if it has one."""
        at = self.position[lane]
        if at < len(self.lines[lane]):
            time = max(not_before, order(self.lines[lane][at].at))
            heapq.heappush(self.running, (time, self.order[lane], lane))

    def start(self, line: Line, now: str) -> None:
        """The lanes that a record's calls start run from then on."""
        for call in line.calls:
            for lane in self.waiting.pop(call, ()):
                self._run(lane, now)

    def until(self, time: str) -> Iterator[Line]:
        """What the running lanes did up to a time."""
        while self.running and self.running[0][0] <= time:
            yield from self._step(self.running[0])

    def rest_of(self, lane: str, end: str) -> Iterator[Line]:
        """All that one lane still did, if it runs, until it was written to behind its end."""
        while entry := next((one for one in self.running if one[2] == lane), None):
            line = self.lines[lane][self.position[lane]]
            if line.kind == "user" and not line.has_results and end and order(line.at) > end:
                return
            yield from self._step(entry)

    def _step(self, entry: tuple[str, int, str]) -> Iterator[Line]:
        time, _, lane = entry
        self.running.remove(entry)
        heapq.heapify(self.running)
        line = self.lines[lane][self.position[lane]]
        self.position[lane] += 1
        self._run(lane, time)
        yield line
        self.start(line, time)

    def never_started(self) -> Iterator[Line]:
        for lanes in self.waiting.values():
            for lane in lanes:
                yield from self.lines[lane]
