"""Files that are no part of the work: below a folder for temporary ones."""

from collections.abc import Callable, Iterator

from forsy_retrace.commands import Simple
from forsy_retrace.patterns import later
from forsy_retrace.trace import Trace

from .paths import absolute

GONE = {
    "delete": "The log shows that it is gone.",
    "removed": "A command removed it.",
    "folder removed": "A command removed it.",
}
"""What is deleted; behind a command that removed it, others on its line may have made it anew."""
EDITS = ("edit", "write", "delete")
SCRATCH = later(r"^(?:/private)?/(?:tmp|var/folders)/|[/\\]AppData[/\\]Local[/\\]Temp[/\\]")
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
        run = step.run
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


OWN_FOLDER = later(r"(?:/private)?/tmp/[^/]+(?=/)")
"""A folder below the one for all that is scratch."""


def _edited_folders(trace: Trace) -> Iterator[str]:
    for touch in trace.touches:
        found = OWN_FOLDER.match(touch.path) if touch.kind in EDITS else None
        if found and trace.steps[touch.step - 1].run is None:
            yield found[0]


def _fetched(simple: Simple) -> tuple[str, ...]:
    """Where a clone of a repository that is not on this machine goes."""
    is_far = simple.name == "gh repo clone" or any(AWAY.match(one) for one in simple.urls)
    return simple.writes if simple.name in CLONES and is_far else ()


CLONES = frozenset(["git clone", "gh repo clone"])
AWAY = later(r"(?:https?|ssh|git)://|git@")
"""How the address of a repository on another machine begins."""
