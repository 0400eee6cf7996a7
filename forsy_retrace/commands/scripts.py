"""Tells from its name what a script, a make target or a task does: `test:unit`, `lint.sh`."""

from __future__ import annotations

from forsy_retrace.commands.model import REWRITES, Simple
from forsy_retrace.commands.table import Script, table
from forsy_retrace.patterns import later

_SCRIPT_FOLDERS = frozenset({"scripts", "script", "bin", "hack", "tools", "ci", ".ci", "dev"})
_RUNS_TESTS = later(r"(?i)run[_-]?(?:(?:all|unit)[_-]?)?tests?")
"""How a program is called that runs a project's tests, in any language."""
_TEST_FOLDERS = frozenset({"test", "tests", "spec"})
_RUNS_FOLDER = later(r"(?i)run(?:[_-]?all)?|all|runner")
"""How one is called that lies among them, `test/run.sh`."""
_SEGMENTS = later(r"[:_\-./\\ ]+")


def run_script(words: tuple[str, ...], at: int) -> Simple | None:
    """A check for a script whose name says so, `scripts/lint` or `test/run.sh`; else None.

    What lies in `/tmp` itself was written for the moment: no name there tells of a project.
    """
    path = words[at].replace("\\", "/")
    folders, _, name = path.rpartition("/")
    if folders == "/tmp":
        return None
    stem, dot, suffix = name.partition(".")
    is_shell = suffix in ("sh", "bash", "zsh", "ps1", "bat", "cmd")
    folder = folders.rpartition("/")[2]
    in_folder = not dot and folder in _SCRIPT_FOLDERS
    ways = (_RUNS_TESTS, _RUNS_FOLDER) if folder in _TEST_FOLDERS else (_RUNS_TESTS,)
    runs_tests = any(way.fullmatch(stem) for way in ways)
    if is_shell or in_folder or runs_tests:
        script = script_called("tests" if runs_tests else stem)
        if script is not None and (script.check or script.role in REWRITES):
            return Simple(
                words,
                name,
                script.operation,
                f"script:{script.words.split()[0]}",
                check=script.check or None,
                limits=(("", words[at + 1 :]),) if words[at + 1 :] else (),
                reads=(words[at],),
                role=script.role,
            )
    return None


def script_called(name: str) -> Script | None:
    """What a script or target called `test:unit` or `lint-fix` does; None where it does not say."""
    scripts = table().scripts
    name = name.lower()
    if name in scripts:
        return scripts[name]
    segments = _SEGMENTS.split(name)
    known = [scripts[segment] for segment in segments if segment in scripts]
    if not known:
        return None
    best = next((script for script in known if script.check or script.role in REWRITES), known[0])
    if best.role in REWRITES and "check" in segments:
        return Script(best.words, "verify", "lint")
    if best.check == "lint" and ("fix" in segments or "write" in segments):
        return Script(best.words, "edit", "lint", "fix")
    return best
