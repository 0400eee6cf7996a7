"""Which files do the imports of a file lead to? Those that it names from where it lies.

Only what is named from there: where a bare name is looked for, no log tells.
"""

import posixpath
from collections.abc import Iterator

from forsy_retrace.patterns import later

from ..checks.loads import INDEX, PYTHON, SCRIPT

QUOTED = later(r"\b(?:from|import|require)\b ?\(? ?['\"](\.{1,2}/[\w./@-]{1,200})['\"]")
"""What JavaScript loads: `from "./cart"`, `require('../till')`."""
DOTTED = later(r"\bfrom (\.{1,9})([\w.]{0,200}) import \(?([\w, ]{1,200})")
"""What Python loads: `from .shop import cart`."""
DECLARED = later(r"\bmod (\w{1,80});")
"""What Rust loads."""
RUST_ROOTS = ("main.rs", "lib.rs", "mod.rs")
"""Files whose modules lie beside them; those of any other lie in a folder of its name."""


def stem_of(path: str) -> str:
    """A file as imports name it: without its ending, and by its folder where that names it."""
    stem, ending = posixpath.splitext(path)
    folder, name = posixpath.split(stem)
    is_code = ending in (*SCRIPT, *PYTHON, ".rs", ".vue", ".svelte")
    return (folder if name in INDEX else stem) if is_code else path


def imported(text: str, file: str) -> Iterator[str]:
    """What the text of a file loads, each as `stem_of` has it."""
    folder, name = posixpath.split(file)
    if name.endswith((*SCRIPT, ".vue", ".svelte")):
        for named in QUOTED.findall(text) if "./" in text else ():
            yield stem_of(posixpath.normpath(posixpath.join(folder, named)))
    elif name.endswith(PYTHON):
        for dots, module, names in DOTTED.findall(text) if "from ." in text else ():
            above = posixpath.join(folder, *[".."] * (len(dots) - 1), *module.split("."))
            base = posixpath.normpath(above)
            yield base
            yield from (f"{base}/{one.strip().split(' ')[0]}" for one in names.split(","))
    elif name.endswith(".rs"):
        base = folder if name in RUST_ROOTS else file.removesuffix(".rs")
        yield from (f"{base}/{one}" for one in (DECLARED.findall(text) if "mod " in text else ()))
