"""Tells what a whole shell line is for, from the simple commands in it."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import msgspec

from forsy_retrace.commands import foreign, lexer, tree
from forsy_retrace.commands.model import REWRITES, Command, Excuse, Part, Poured, Simple
from forsy_retrace.commands.simple import simple
from forsy_retrace.commands.targets import LOG, Redirects
from forsy_retrace.commands.wrappers import found, hides, unwrap

_LONGEST = 64 * 1024
"""Past so many characters a line is judged by its head: it carries data, not commands."""
_HEAD = 4096
_DEEPEST = 4  # `bash -c "ssh host 'bash -c …'"`: deeper is no line that anyone wrote
_POSIX = ("bash", "zsh", "sh")
_FAR = ("ssh",)
"""Runs a line on another machine."""
_EFFECTS = frozenset({"execute", "install", "write", "edit"})
_STRUCTURE = frozenset({"lint", "types", "build"})
"""Checks that say nothing of what the code does; behind a formatter they only look it over."""
_KEEPS = ("tee", "sponge")
_MOVES = (("cd",), ("pushd",), ("Set-Location",), ("sl",), ("chdir",))
APPLIES = ("apply_patch", "applypatch")
"""Commands that apply the patch which they are fed."""
_READIES = (("mkdir",), ("set",), ("export",), ())
"""Commands of which nobody expects that they fail, and an assignment."""
_PATTERN = lexer.EXPANDED | frozenset("*?[{~")
"""Marks of a word of which it is not told whether quotes kept the shell from reading it."""
_NOTHING = Command(
    "other", "empty", "cli", None, (), False, False, (), (), (), (), (), "", "", None
)


class Known(msgspec.Struct, frozen=True, gc=False):
    """What is known of a simple command wherever it stands."""

    done: Simple
    rank: int
    """How much it can be what its line is for: 3 work, 2 effects, 1 views, 0 the rest."""
    text: str
    """Its normal form."""
    line: str | None
    """The line that it gives another shell, `bash -c '…'`."""


Step = tuple[Part, Known]


def classify(line: str, shell: str = "bash") -> Command:
    """What a command line does; any string is an answer, at worst `unknown-command`."""
    if len(line) > _LONGEST:
        head = line[:_HEAD]
        return _kept(head[: head.rfind("\n") + 1] or head, shell)
    return _classified(line, shell) if len(line) > _HEAD else _kept(line, shell)


def _classified(line: str, shell: str) -> Command:
    steps = _steps(line, shell, 0)
    return _judged(steps, shell) if steps else _NOTHING


_kept = lru_cache(maxsize=8192)(_classified)


def _steps(line: str, shell: str, level: int) -> list[Step]:
    """Every simple command of a line, and of the lines that its shells are given as text."""
    parts = tree.posix(line) if shell in _POSIX else foreign.split(line, shell)
    steps: list[Step] = []
    piped = False
    for part in parts:
        known = _known(
            tuple(part.words),
            tuple(part.redirects),
            piped and not part.depth,
            part.body is not None,
            shell,
        )
        inner: list[Step] = []
        if known.line is not None and level < _DEEPEST:
            inner = _steps(known.line, "bash" if shell in _POSIX else shell, level + 1)
        if inner:
            placed = _placed(inner, part, shell)
            is_far = known.done.words[:1] == _FAR
            steps.extend((held, _far(one, part)) if is_far else (held, one) for held, one in placed)
        else:
            steps.append((part, known))
        if not part.depth:
            piped = part.after == "|"
    return steps


def _placed(inner: list[Step], part: Part, shell: str) -> list[Step]:
    """The steps of `bash -c '…'` standing where the shell stood."""
    for held, _ in inner:
        held.depth += part.depth
        held.block = held.block or part.block
    last, known = inner[-1]
    last.after = part.after
    if part.redirects:
        last.redirects.extend(part.redirects)
        last.shared = True
        inner[-1] = (last, _known(known.done.words, tuple(last.redirects), False, False, shell))
    return inner


def _far(known: Known, outer: Part) -> Known:
    """A command on another machine, of which no file is here but where its output is put."""
    done, here = known.done, {target for _, target in outer.redirects}
    done = msgspec.structs.replace(
        done,
        words=_FAR + done.words,
        name=done.name if done.check else "",
        reads=(),
        writes=tuple(path for path in done.writes if path in here),
        role="work" if done.role in REWRITES else done.role,
    )
    return msgspec.structs.replace(known, done=done, text=f"{_FAR[0]} {known.text}")


@lru_cache(maxsize=16384)
def _known(
    words: tuple[str, ...], redirects: Redirects, piped: bool, heredoc: bool, shell: str
) -> Known:
    words, line = unwrap(words)
    fed = heredoc or ("<<<" in redirects[-1] if redirects else False)
    done = simple(words, redirects, piped, fed, shell)
    if words[:1] == ("find",) and (held := found(words)):
        ran = simple(held, redirects, False, False, shell)
        if ran.role != "view":
            done = ran
    return Known(done, _rank(done), _text(done.words, redirects), line)


def _rank(done: Simple) -> int:
    if done.name in _KEEPS and done.writes and all(path.endswith(LOG) for path in done.writes):
        return 1
    if done.role == "work" or done.role in REWRITES:
        return 3
    if done.role == "prep":
        return 2 if done.operation in _EFFECTS else 0
    return 0 if done.operation == "other" else 1


def _text(words: tuple[str, ...], redirects: Redirects) -> str:
    text = " ".join(words)
    if words and (text.count(" ") != len(words) - 1 or "" in words):
        text = " ".join([shlex.quote(w) if " " in w or not w else w for w in words])
    for operator, target in redirects:
        if operator[-1] != "&" and target != "/dev/null":
            text = f"{text} {operator}{target}"
    return text


class _Sense(NamedTuple):
    """What a line is for, and which of its commands says so."""

    operation: str
    rule: str
    check: str | None
    checked: int
    """Where the command stands that checks something, or the main one."""


def _judged(steps: list[Step], shell: str) -> Command:
    simples = tuple(
        msgspec.structs.replace(known.done, captured=True) if part.depth else known.done
        for part, known in steps
    )
    at = _main(steps, _ranks(steps, simples))
    main, fixer = simples[at], next((done for done in simples if done.role in REWRITES), None)
    sense = _sense(simples, at, fixer)
    return Command(
        operation=sense.operation,
        rule=sense.rule,
        surface=main.surface,
        check=sense.check,
        covers=simples[sense.checked].covers if sense.check else (),
        masked=_masked(steps, sense.checked) or (sense.checked != at and _masked(steps, at)),
        fixes=fixer is not None,
        simples=simples,
        reads=_each([done.reads for done in simples]),
        writes=_each([done.writes for done in simples]),
        urls=_each([done.urls for done in simples]),
        packages=_each([done.packages for done in simples]),
        normal=_normal(steps, at),
        main=main.name or (main.words[0] if main.words else ""),
        cwd=_cwd(steps),
        excuses=tuple(_excuses(steps)),
        told=tuple(_told(steps)),
        poured=tuple(_poured(steps)) if shell in _POSIX else (),
        fed=tuple(_fed(steps)),
        inline=tuple(_inline(steps)),
        negated=steps[at][0].block == "not",
        place=at,
        unsure=tuple(_unsure(steps)),
        bound=_chained(steps),
        behind_cd=_behind_cd(steps),
    )


def _ranks(steps: list[Step], simples: Sequence[Simple]) -> list[int]:
    """How much each command can be what the line is for."""
    ranks = [0 if part.depth else known.rank for part, known in steps]
    for place, done in enumerate(simples):
        if done.name == "mkdir" and _fills(done.writes, simples[place + 1 :]):
            ranks[place] = 0
    return ranks


def _sense(simples: Sequence[Simple], at: int, fixer: Simple | None) -> _Sense:
    """What the main command says of the line, and the last check in it."""
    operation, rule, check, checked = simples[at].operation, simples[at].rule, simples[at].check, at
    checks = [place for place, done in enumerate(simples) if done.check is not None]
    if check is None and checks:
        checked = checks[-1]
        check = simples[checked].check
    if fixer is not None and operation == "verify" and check in _STRUCTURE:
        return _Sense("edit", fixer.rule, check, checked)
    if rule == "run-program" and any(done.check == "build" for done in simples[:at]):
        return _Sense("verify", "run-after-build", "run", at)
    if rule == "redirect-append" and _began(simples[:at], simples[at].writes):
        return _Sense("write", rule, check, checked)
    return _Sense(operation, rule, check, checked)


def _began(before: Sequence[Simple], files: Sequence[str]) -> bool:
    """Whether commands put the first text into all of some files, to which more is appended."""
    begun = {path for done in before if done.rule == "redirect-write" for path in done.writes}
    return begun.issuperset(files)


def _each(lists: list[tuple[str, ...]]) -> tuple[str, ...]:
    """What stands in several lists, once, in order."""
    full = [one for one in lists if one]
    return tuple(dict.fromkeys(chain.from_iterable(full))) if full else ()


def _behind_cd(steps: list[Step]) -> int:
    """How far `cd X && a | b && …` goes; what stands behind `cd X;` runs in any case."""
    if steps[0][1].done.words[:1] not in _MOVES:
        return 0
    for at, (part, _) in enumerate(steps):
        if part.after not in (("&&", "|") if at else ("&&",)) and not part.depth:
            return at + 1
    return len(steps)


def _fed(steps: list[Step]) -> Iterator[str]:
    for part, known in steps:
        if part.body and known.done.words[:1] and known.done.words[0] in APPLIES:
            yield part.body


def _inline(steps: list[Step]) -> Iterator[tuple[str, str]]:
    for part, known in steps:
        if known.done.rule == "inline-program" and known.done.words[:1] != _FAR:
            yield known.done.words[0], part.body or "\n".join(known.done.words[1:])


def _poured(steps: list[Step]) -> Iterator[Poured]:
    """What `cat` puts into files from here-documents, and what `echo` or `printf` says into them.

    Nothing before it can stop it, or the line does not work where something did.
    """
    reached, strict, may_stop = True, False, False
    last = _chained(steps)
    before = ""
    for at, (part, known) in enumerate(steps):
        if part.depth:
            continue
        if reached and not part.block and known.done.words[:1] == ("exit",):
            return
        redirects = [] if part.shared else [operator for operator, _ in part.redirects]
        into = redirects in ([">"], [">>"], [">|"])
        is_poured = part.literal and known.done.words == ("cat",)
        text = part.body or "" if is_poured else _said(known.done.words)
        pours = into and text is not None and not part.block
        if pours and (reached or (at >= last and before == "&&")):
            yield Poured(at, text or "", may_stop, not reached)
        before = part.after
        strict = strict or _stops_at_errors(known.done.words)
        ready = pours or known.done.words[:1] in (*_MOVES, *_READIES)
        may_stop = may_stop or (strict and not ready)
        goes_on = reached and ready
        reached = goes_on if part.after == "&&" else part.after not in ("||", "|")


def _unsure(steps: list[Step]) -> Iterator[int]:
    """The commands that the line may have left out."""
    last, reached = _chained(steps), True
    for at, (part, known) in enumerate(steps):
        if part.depth:
            continue
        if part.block or part.after == "&" or not (reached or at >= last):
            yield at
        ready = known.done.words[:1] in (*_MOVES, *_READIES)
        if part.after != "|":  # what it is handed to begins where it does
            reached = reached and ready if part.after == "&&" else part.after != "||"


def _chained(steps: list[Step]) -> int:
    """From which command on each runs only if the one before it worked, to the end of the line."""
    at = len(steps) - 1
    if steps[at][0].after:
        return len(steps)
    while at and (steps[at - 1][0].after == "&&" or steps[at - 1][0].depth):
        at -= 1
    return at


def _stops_at_errors(words: Sequence[str]) -> bool:
    """Whether it is `set -e`, in any of its ways."""
    flags = words[1:] if words[:1] == ("set",) else ()
    return any(flag == "errexit" or (flag[:1] == "-" and "e" in flag) for flag in flags)


def _said(words: Sequence[str]) -> str | None:
    """What `echo` or `printf` prints; None where its words may not be taken as they stand."""
    said = " ".join(words[1:])
    if words[:1] == ("printf",) and len(words) == 2 and "%" not in said:
        said = said.replace("\\n", "\n")
    elif words[:1] == ("echo",) and said[:1] not in ("", "-"):
        said += "\n"
    else:
        return None
    return said if _PATTERN.isdisjoint(said) else None


def _excuses(steps: list[Step]) -> Iterator[Excuse]:
    """Each `|| echo WORDS` whose words the shell takes as they stand."""
    first = 0
    for at, (part, _) in enumerate(steps[:-1]):
        if part.depth:
            continue
        if part.after not in ("&&", "||", "|"):
            first = at + 1
        spoken, known = steps[at + 1]
        words = known.done.words
        if part.after != "||" or words[:1] != ("echo",) or spoken.redirects or spoken.block:
            continue
        said = " ".join(words[1:])
        if said and not set(said) & lexer.EXPANDED:
            yield Excuse(first, at + 1, said)
        first = at + 2


def _fills(folders: Sequence[str], later: Sequence[Simple]) -> bool:
    """Whether commands write into one of these folders, which is then made for them."""
    return any(
        path.startswith(f"{folder.rstrip('/')}/")
        for done in later
        for path in done.writes
        for folder in folders
    )


def _main(steps: list[Step], ranks: list[int]) -> int:
    """The command that the line is for: the last of the highest rank; piped viewers: the first."""
    best = max(ranks)
    if best == 0 and any(part.depth for part, _ in steps):
        # `X=$(curl …); echo $X`: what stands in the substitution is all that the line does.
        ranks = [known.rank if part.depth else 0 for part, known in steps]
        best = max(ranks)
    at = len(ranks) - 1
    while ranks[at] != best:
        at -= 1
    if best == 1:
        while at and steps[at - 1][0].after == "|" and ranks[at - 1] == 1:
            at -= 1
    elif best == 3 and at and not steps[at][1].done.check:
        # `go test -json | report`: a check outweighs what its output is piped into, and any work
        # outweighs `tee`.
        start, keeps = at, steps[at][1].done.name in _KEEPS
        while start and steps[start - 1][0].after == "|":
            start -= 1
            if steps[start][1].done.check or (keeps and ranks[start] > 1):
                return start
    return at


_LISTS = frozenset(["gh run list", "gh run view"])
"""What only lists how checks went, and exits with 0 however that was."""


def _told(steps: list[Step]) -> Iterator[str]:
    """The kinds of the checks without which the line does not exit with 0."""
    for at, (_, known) in enumerate(steps):
        lists = known.done.name in _LISTS
        if known.done.check is not None and not lists and not _masked(steps, at):
            yield known.done.check


def _masked(steps: list[Step], at: int) -> bool:
    """Whether the line's exit status is another command's than the one at this place."""
    part = steps[at][0]
    if part.depth or part.block in ("loop", "condition", "not", "function") or hides(part.words):
        return True
    strict = piped_strict = False
    for _, known in steps[:at]:
        if known.done.words[:1] == ("set",):
            options = known.text
            piped_strict = piped_strict or "pipefail" in options
            strict = strict or " -e" in options or "errexit" in options
    same_pipe = True
    for place in range(at, len(steps) - 1):
        held = steps[place][0]
        if held.depth:
            continue
        follower = steps[place + 1][1].done.words
        match held.after:
            case "|":
                if same_pipe and not piped_strict:
                    return True
            case "||":
                if follower[:1] not in (("exit",), ("return",), ("false",)):
                    return True
            case "&&":
                same_pipe = False
            case _:
                passes_on = follower[:1] == ("exit",) and follower[1:] != ("0",)
                if not strict and not passes_on:
                    return True
    return steps[-1][0].after == "&"


def _normal(steps: list[Step], main: int) -> str:
    """The line to compare runs by: no leading `cd`, wrappers, viewer tails or quoting."""
    end = len(steps)
    if not steps[main][0].depth:
        while end - 1 > main and _shows(steps[end - 1][1].done):
            end -= 1
    start = 0
    while start < main and _leads(steps[start]):
        start += 1
    if end - start == 1 and not steps[start][0].assigns and steps[start][0].body is None:
        return steps[start][1].text
    pieces: list[str] = []
    held: list[str] = []  # here-documents inside substitutions stand before what they are for
    for part, known in steps[start:end]:
        if part.body is not None:
            held.append(part.body.strip())
        if part.depth:
            continue
        text = known.text
        if part.assigns:
            text = " ".join([*part.assigns, text]) if text else " ".join(part.assigns)
        if held:
            text = " <<".join([text, *held])
            held = []
        pieces.append(text)
        pieces.append(part.after or ";")
    return " ".join(pieces[:-1])


def _shows(done: Simple) -> bool:
    return done.role == "view" or done.operation == "other" or done.name in _KEEPS


def _leads(step: Step) -> bool:
    """Whether it is a `cd` that is not one of several rounds."""
    part, known = step
    return known.done.words[:1] in _MOVES and part.block != "loop"


def _cwd(steps: list[Step]) -> str | None:
    """Where the leading `cd`s of the line go, one after another; one in a loop is but a round."""
    folder: str | None = None
    for part, known in steps:
        done = known.done
        if not _leads((part, known)) or len(done.words) < 2:
            break
        folder = posixpath.join(folder or "", done.words[-1])
    return folder
