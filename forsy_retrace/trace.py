"""A Forsy trace as the builder makes it: the format's fields, each with its ground."""

from collections.abc import Iterable, Mapping
from string import ascii_letters, digits
from typing import Any

import msgspec

from forsy_retrace.commands import Command
from forsy_retrace.events import Change, Origin, Session, ToolCall, ToolResult
from forsy_retrace.evidence import Ground
from forsy_retrace.frames import shown_of
from forsy_retrace.patterns import later

Json = Any


COLOURS = later(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""The sequences by which a program colours and rewrites what it prints."""


class Step(msgspec.Struct, frozen=True, gc=False):
    """One step: the format's 28 fields in its order, then what the builder needs to know of it."""

    step: int = 0
    turn: int = 1
    actor: str = "agent"
    action: str = "agent_step"
    operation: str | None = None
    tool: str | None = None
    execution_mode: str | None = None
    parallel_group: str | None = None
    observation: str | None = None
    input: str | None = None
    input_source: dict[str, Json] | None = None
    output: str | None = None
    state_change: str | None = None
    reasoning: str | None = None
    caused_by: tuple[int, ...] | None = None
    causal_type: str | None = None
    causal_note: str | None = None
    alternatives_considered: str | None = None
    success: bool | None = None
    eval: int = 0
    eval_reason: str | None = None
    directive: str | None = None
    message_role: str | None = None
    feedback_type: str | None = None
    feedback_content: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    retry_of: int | None = None

    origin: Origin | None = None
    via: str = ""
    """How a human's words came; what a harness's step is about."""
    call: ToolCall | None = None
    like: str = ""
    """The tool of the builder's tables that the call's works like; mostly its own name."""
    result: ToolResult | None = None
    surface: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    answers: int | None = None
    """The step that a human's words reject, interrupt or answer."""
    grounds: Mapping[str, Ground] = msgspec.field(default_factory=dict)
    run: Command | None = None
    """What a shell call runs."""

    @property
    def told(self) -> ToolResult | None:
        """What says how the call ended: its result, or what a later call showed of its end."""
        return self.result if self.result is None or self.result.end is None else self.result.end

    @property
    def printed(self) -> str:
        """What the call printed up to its end, as the harness shows it, without its colours."""
        text = shown_of((self.told.output if self.told else self.output) or "")
        return COLOURS.sub("", text) if "\x1b" in text else text


FIELDS: tuple[str, ...] = Step.__struct_fields__[:28]
UNGROUNDED = ("step", "turn", "actor", "action", "execution_mode", "parallel_group")
"""Fields that evidence.jsonl passes over: the trace's own order and grouping."""


def put(step: Step, grounds: Mapping[str, Ground], **values: Any) -> Step:
    """The step with new values and their grounds."""
    return msgspec.structs.replace(step, grounds={**step.grounds, **grounds}, **values)


class Touch(msgspec.Struct, frozen=True, gc=False):
    """What one step did to a file, or saw of it, as far as the log shows."""

    step: int
    actor: str
    path: str
    """Absolute where the log allows it."""
    kind: str
    """`read`, `edit`, `write`, `delete`, `generated`, `removed` by a command, `changed` where only
    the fact is known, or `folder` and `folder removed` where it is one that a command made or
    took away."""
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    """Lines, without their ends."""
    old: str | None = None
    new: str | None = None
    """The texts that an edit was asked to replace and to put in, or to put at the end, where it
    replaces the empty text; all of a written file."""
    change: Change | None = None
    first: int | None = None
    last: int | None = None
    """Lines shown or asked for, from 1."""
    source: str = ""
    """Of a file that a command moved the path where it was."""
    appends: bool = False
    """Whether a command put something at its end, which makes the file where there is none."""


class Check(msgspec.Struct, frozen=True, gc=False):
    """A step that checks earlier edits: of which kind, which edits, and whether it passed."""

    step: int
    kind: str
    """`tests`, `lint`, `types`, `build`, `run`, `ci` or `read-back`."""
    edits: tuple[int, ...]
    passed: bool | None
    fresh: bool
    """Whether there was anything new to check."""
    summary: str = ""
    """The runner's own closing words."""
    rule: str = ""
    confidence: float = 0.9
    more: bool = False
    """Whether it checks earlier edits too, which are too many to be named."""
    untested: tuple[int, ...] = ()
    """Those of the edits of which a run of tests is not known to have tested anything."""

    @property
    def over(self) -> tuple[int, ...]:
        """The edits of which its outcome tells."""
        return tuple(edit for edit in self.edits if edit not in self.untested)


class Artifact(msgspec.Struct, frozen=True, gc=False):
    """A file that the log shows created, modified, deleted or read as evidence."""

    path: str
    type: str
    role: str
    related_steps: tuple[int, ...]
    description: str
    state: str
    grade: str
    """`full`: the log holds the whole; `partial`: patches only; `unseen`: only that it changed."""
    content: str | None = None
    diff: str | None = None


class Deduction(msgspec.Struct, frozen=True, gc=False):
    """What the log could have shown and did not: points of confidence lost, and over what share."""

    name: str
    points: float
    why: str


LETTERS = f"{ascii_letters}{digits}_./@:~#%+-".encode()
APART = bytes(byte if byte in LETTERS else ord(" ") for byte in range(256))


def long_tokens(text: str, shortest: int) -> list[str]:
    """The words, names, paths and addresses of so many characters or more, in order.

    Half of what a pattern takes, which begins anew at each letter of a short word.
    """
    bare = text.encode("ascii", "replace").translate(APART).decode("ascii")
    return [token for token in bare.split() if len(token) >= shortest]


class Tokens:
    """The long tokens of a session's texts; each text is cut once, whichever pass asks first.

    A log of hundreds of megabytes has more of them than memory should hold: the later are cut anew.
    """

    MOST = 500_000

    def __init__(self) -> None:
        self.room = self.MOST
        self.held: dict[str, tuple[str, ...]] = {}
        self.one: dict[str, str] = {}
        """Equal tokens are kept once: an eighth of those in 52 MB of real sessions differ."""

    def of(self, text: str) -> tuple[str, ...]:
        """The tokens of eight characters or more, in order."""
        if (held := self.held.get(text)) is not None:
            return held
        found = self.cut(text)
        if len(found) > self.room:
            return tuple(found)
        self.room -= len(found)
        one = self.one.setdefault
        self.held[text] = held = tuple(map(one, found, found))
        return held

    def cut(self, text: str) -> list[str]:
        """The same of a text that no other pass asks for; nothing is kept."""
        return long_tokens(text, 8)


class Trace(msgspec.Struct, frozen=True):
    """One session, retraced."""

    adapter: str
    session: Session
    steps: tuple[Step, ...] = ()
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    boundaries: tuple[tuple[int, str], ...] = ()
    """Where the agent lost sight of what lay before: steps before it, `compacted` or `cleared`."""
    replanned: tuple[tuple[int, str], ...] = ()
    """Where the log shows that a plan was changed, and not how: steps before it, and the actor."""
    touches: tuple[Touch, ...] = ()
    strange: frozenset[tuple[int, str]] = frozenset()
    """The steps that found a file changed by no edit that the log shows, and the file."""
    checks: Mapping[int, Check] = msgspec.field(default_factory=dict)
    replaced: Mapping[int, int] = msgspec.field(default_factory=dict)
    """Edit steps to the later step that replaced or undid most of what they wrote."""
    reworked: Mapping[int, tuple[int, ...]] = msgspec.field(default_factory=dict)
    """Edit steps to the later steps that changed a line of theirs, or worked over all of them."""
    uses: Mapping[int, int] = msgspec.field(default_factory=dict)
    """Steps to the first later call that took its arguments from their output."""
    delegations: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Subagent to the step that started it."""
    left_out: Mapping[tuple[str, int, int], str] = msgspec.field(default_factory=dict)
    """Records whose events the builder left out, and why."""
    trace_id: str = ""
    prior_trace_id: str | None = None
    task: str = ""
    agent_tools: tuple[str, ...] = ()
    started_at: str | None = None
    ended_at: str | None = None
    system_prompt: str | None = None
    skills: tuple[str, ...] | None = None
    memory: str | None = None
    agent_config: Mapping[str, Json] = msgspec.field(default_factory=dict)
    learning: str | None = None
    termination_reason: str = "other"
    final_output: str = ""
    artifacts: tuple[Artifact, ...] = ()
    confidence: int = 0
    deductions: tuple[Deduction, ...] = ()
    goal_achieved: bool = False
    goal_notes: str | None = None
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    facts: Mapping[str, Json] = msgspec.field(default_factory=dict)
    """What the manifest says beyond the format: usage, shared prefix, hidden reasoning."""
    tools: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The harness's tools, and the known ones that they work like, as its adapter says."""
    marks_people: bool = True
    """Whether a person is known to have written the user's turns."""
    marks_cuts: bool = False
    """Whether the harness is known to say so where it left out some of what a call showed."""


def counted(number: int, noun: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shortened(text: str, most: int, mark: str = "…") -> str:
    """The beginning of a long text, up to a blank: nobody masks half a secret.

    A path or an address without one is cut at a slash; a key may hold slashes too.
    """
    if len(text) <= most:
        return text
    end = max(text.rfind(sign, 0, most + 1) for sign in (" ", "\t", "\n"))
    if end < 0 and (text[0] in "/~." or "://" in text[:12]):
        end = text.rfind("/", 0, most) + 1
    return text[: max(end, 0)].rstrip() + mark


def steps_named(numbers: Iterable[int]) -> str:
    """Steps in words: `step 3`, `steps 3, 4 and 7`."""
    listed = [str(number) for number in sorted(set(numbers))]
    if len(listed) == 1:
        return f"step {listed[0]}"
    return f"steps {', '.join(listed[:-1])} and {listed[-1]}"


def edits_named(check: Check) -> str:
    """The edits of a check in words."""
    return steps_named(check.edits) + (", and earlier ones" if check.more else "")
