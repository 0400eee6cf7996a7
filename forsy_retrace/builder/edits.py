"""Which edits stand, and which were replaced or undone later?"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence

from forsy_retrace.commands import Simple
from forsy_retrace.trace import Step, Touch, Trace

from .classify import command
from .touches import absolute

EDITS = ("edit", "write", "delete")
REPLACED_SHARE = 0.5
"""An edit is replaced when later steps took out more than this share of the lines it put in."""

RESTORES = re.compile(
    r"\bgit (?:checkout (?:--(?=\s)|HEAD\b|\S+ --(?=\s)|\.(?=\s|$))|reset --hard\b"
    r"|restore\b(?![^&|;\n]{0,400} (?:--staged|-S)\b))"
)
"""Commands that put files back as they were committed."""


SCRATCH = re.compile(r"^(?:/private)?/(?:tmp|var/folders)/|[/\\]AppData[/\\]Local[/\\]Temp[/\\]")
"""Where scratch files lie: writing one is no edit of the work."""


def scratch(trace: Trace) -> Callable[[str], bool]:
    """Tells whether a file lies where scratch files lie, and in no folder that is worked in.

    Worked in are the folder that the session began in, those that it pushed from, and copies of a
    repository that it fetched and committed to. Where the log tells no working directory, so is a
    folder below `/tmp` of which the agent edited files with a tool for that.
    """
    first = next((step.cwd for step in trace.steps if step.cwd), None)
    homes = {first} if first else set(_edited_folders(trace))
    copies = set[str]()
    for step in trace.steps:
        run = command(step)
        if run is None:
            continue
        here, names = absolute(run.cwd or ".", step.cwd), {one.name for one in run.simples}
        copies |= {absolute(path, here) for one in run.simples for path in _fetched(one)}
        if "git push" in names or (here in copies and "git commit" in names):
            homes.add(here)
    inside = tuple(f"{home.rstrip('/')}/" for home in homes if SCRATCH.search(f"{home}/"))

    def is_scratch(path: str) -> bool:
        return SCRATCH.search(path) is not None and not path.startswith(inside)

    return is_scratch


OWN_FOLDER = re.compile(r"(?:/private)?/tmp/[^/]+(?=/)")
"""A folder below the one for all that is scratch."""


def _edited_folders(trace: Trace) -> Iterator[str]:
    for touch in trace.touches:
        found = OWN_FOLDER.match(touch.path) if touch.kind in EDITS else None
        if found and command(trace.steps[touch.step - 1]) is None:
            yield found[0]


def _fetched(simple: Simple) -> tuple[str, ...]:
    """Where a clone of a repository that is not on this machine goes."""
    is_far = simple.name == "gh repo clone" or any(AWAY.match(one) for one in simple.urls)
    return simple.writes if simple.name in CLONES and is_far else ()


CLONES = frozenset(["git clone", "gh repo clone"])
AWAY = re.compile(r"(?:https?|ssh|git)://|git@")
"""How the address of a repository on another machine begins."""


class Standing:
    """The edits in effect, kept up to date as steps pass by."""

    def __init__(self) -> None:
        self.lines: dict[int, dict[str, list[str]]] = {}
        """Edit step to the lines that it put into each file and that still stand."""
        self.sizes: dict[int, int] = {}
        self.replaced: dict[int, int] = {}
        self.reworked: dict[int, list[int]] = {}
        self.paths: dict[int, set[str]] = {}
        self.by_path: dict[str, list[int]] = {}
        self.by_name: dict[str, set[str]] = {}
        """The paths of edited files by their last part."""
        self.committed = 0
        """The last step that made a commit: what was edited before may be in it."""

    def take(self, step: Step, touched: list[Touch]) -> None:
        """Enters a step's edits, after taking out what they replace."""
        for touch in touched:
            if touch.kind in EDITS:
                self._remove(touch)
                self._enter(touch)
        self._restore(step)

    def in_effect(self) -> Iterator[int]:
        """The steps whose edits were not replaced, in order."""
        return (step for step in self.paths if step not in self.replaced)

    def stands(self, path: str) -> bool:
        """Whether an edit of this file is in effect."""
        return any(step not in self.replaced for step in self.by_path[path])

    def _enter(self, touch: Touch) -> None:
        added = [line.strip() for line in touch.added if len(line.strip()) > 2]
        self.paths.setdefault(touch.step, set()).add(touch.path)
        held = self.lines.setdefault(touch.step, {}).setdefault(touch.path, [])
        held.extend(added)
        self.sizes[touch.step] = self.sizes.get(touch.step, 0) + len(added)
        self.by_name.setdefault(posixpath.basename(touch.path), set()).add(touch.path)
        steps = self.by_path.setdefault(touch.path, [])
        if touch.step not in steps:
            steps.append(touch.step)

    def _remove(self, touch: Touch) -> None:
        put = "\n".join(line.strip() for line in touch.added)
        # A line that stands on inside a longer one was extended, not replaced.
        removed = {line.strip() for line in touch.removed}
        gone = {line for line in removed if line not in put}
        whole = touch.kind == "delete" or (touch.kind == "write" and touch.change is None)
        kept = {line.strip() for line in touch.added}
        asked = {line.strip() for line in (touch.old or "").splitlines()}  # also what stays in it
        for step in self.by_path.get(touch.path, ()):
            if step in self.replaced or step == touch.step:
                continue
            held = self.lines[step].get(touch.path, [])
            left = [line for line in held if (line in kept if whole else line not in gone)]
            worked_over = len(held) > 1 and asked.issuperset(held)
            if worked_over or len(left) < len(held) or not removed.isdisjoint(held):
                self.reworked.setdefault(step, []).append(touch.step)
            if len(left) < len(held):
                self.lines[step][touch.path] = left
                self._judge(step, touch.step)

    def _judge(self, step: int, by: int) -> None:
        left = sum(len(lines) for lines in self.lines[step].values())
        size = self.sizes[step]
        if size and (size - left) / size > REPLACED_SHARE:
            self.replaced[step] = by

    def _restore(self, step: Step) -> None:
        run = command(step)
        if run is None or step.success is False:
            return
        if any(simple.name == "git commit" for simple in run.simples):
            self.committed = step.step
        if not RESTORES.search(run.normal):
            return
        cwd = absolute(run.cwd, step.cwd) if run.cwd else step.cwd
        named = [
            absolute(word, cwd)
            for simple in run.simples
            if simple.words[:1] == ("git",)
            for word in simple.words[2:]
            if not word.startswith("-") and word != "HEAD"
        ]
        whole = "--hard" in run.normal or any(
            word in ("git checkout .", "git restore .") for word in [run.normal]
        )
        since = 0 if any(map(self._from_elsewhere, run.simples)) else self.committed
        for other in list(self.in_effect()):
            if since < other < step.step and (whole or self.paths[other] & set(named)):
                self.replaced[other] = step.step

    def _from_elsewhere(self, simple: Simple) -> bool:
        """Whether a command of Git takes files from another place than the last commit."""
        if simple.words[:1] != ("git",) or not RESTORES.search(" ".join(simple.words)):
            return False
        words = simple.words[2:]
        given = words[: words.index("--")] if "--" in words else words
        return any(
            word.startswith(("-s", "--source")) and not word.endswith("=HEAD")
            if word[0] == "-"
            else word not in ("HEAD", ".") and posixpath.basename(word) not in self.by_name
            for word in given
            if word
        )


REWRITES = frozenset(
    [
        *("git checkout", "git switch", "git restore", "git reset", "git merge", "git rebase"),
        *("git pull", "git stash", "git cherry-pick", "git revert", "git am", "git apply"),
    ]
)
"""Commands of Git that may put other contents into the files at work."""
SPARES = frozenset(
    ["-b", "-B", "-c", "-C", "--orphan", "--staged", "--cached", "--check", "--stat"]
)
"""With one of these they do not, nor a stash that is only looked at, nor a reset that is not hard."""


def rewrites(trace: Trace) -> Iterator[tuple[int, Simple]]:
    """The steps in which Git may have put other contents into the files at work."""
    for step in trace.steps:
        run = command(step)
        if run is None or step.success is False or "git" not in run.programs:
            continue
        for simple in run.simples:
            words = frozenset(simple.words[2:])
            if simple.name not in REWRITES or words & (SPARES | set(LOOKS_AT)):
                continue
            if simple.name != "git reset" or "--hard" in words:
                yield step.step, simple


def may_rewrite(simple: Simple, path: str) -> bool:
    """Whether such a command may have meant this file: one that it names, where it names any."""
    marks = [at for at, word in enumerate(simple.words) if word in ("--", "--theirs", "--ours")]
    named = simple.words[marks[-1] + 1 :] if marks else ()
    return not named or any(path.endswith(f"/{name.lstrip('./')}") for name in named)


BACK = ("pop", "apply", "branch")
LOOKS_AT = ("list", "show", "drop", "clear")


class Stash:
    """Whether the edits are put away: `git stash` until `git stash pop`, on one line or on several."""

    def __init__(self) -> None:
        self.away_since = 0
        """The step that put all edits before it away; 0 while they are in place."""

    def take(self, step: int, simples: Sequence[Simple]) -> None:
        """Takes in what these commands of a step do."""
        for simple in simples:
            asked = "".join(simple.words[2:3])
            if simple.words[:2] == ("git", "stash") and asked not in LOOKS_AT:
                self.away_since = 0 if asked in BACK else step


def edits_of(trace: Trace) -> dict[int, list[Touch]]:
    """Step to what it touched."""
    found: dict[int, list[Touch]] = {}
    for touch in trace.touches:
        found.setdefault(touch.step, []).append(touch)
    return found
