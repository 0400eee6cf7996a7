"""Which files do the imports of a file lead to? Those that it names from where it lies.

A module that Python loads by its whole name lies below there or below a folder above: a file that a
call names so is the one, though no log tells where else it would be looked for.
"""

import posixpath
from collections.abc import Iterator
from itertools import islice

from forsy_retrace.patterns import later

from ..checks.loads import INDEX, PYTHON, SCRIPT
from ..touched.paths import folders_above

QUOTED = later(r"['\"](\.{1,2}/[\w./@-]{1,200})['\"]")
"""What JavaScript loads: `from "./cart"`, `require('../till')`."""
LOADING = later(r"\b(?:from|import|require)\b ?\(? ?\Z")
"""What stands before it."""
MOST_LOADING = len("require ( ")
DOTTED = later(r"\bfrom (\.{1,9})([\w.]{0,200}) import \(?([\w, ]{1,200})")
"""What Python loads: `from .shop import cart`."""
ABSOLUTE = later(r"\bfrom ([A-Za-z_][\w.]{0,200}) import \(?([\w, ]{1,200})")
"""The same by its whole name: `from shop.prices import cart`."""
MOST_ABOVE = 4
"""So many folders may lie between a file and what its modules are named from."""
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


def _of_python(module: str, names: str) -> Iterator[str]:
    """A module, and what is taken out of it, which may be modules too."""
    yield module
    yield from (f"{module}/{one.strip().split(' ')[0]}" for one in names.split(","))


def imported(text: str, file: str) -> Iterator[str]:
    """What the text of a file loads, each as `stem_of` has it."""
    folder, name = posixpath.split(file)
    if name.endswith((*SCRIPT, ".vue", ".svelte")):
        for named in QUOTED.finditer(text) if "./" in text else ():
            start = named.start()
            if LOADING.search(text, max(0, start - MOST_LOADING), start):
                yield stem_of(posixpath.normpath(posixpath.join(folder, named[1])))
    elif name.endswith(PYTHON):
        for dots, module, names in DOTTED.findall(text) if "from ." in text else ():
            above = posixpath.join(folder, *[".."] * (len(dots) - 1), *module.split("."))
            yield from _of_python(posixpath.normpath(above), names)
        for module, names in ABSOLUTE.findall(text) if " import " in text else ():
            for root in (folder, *islice(folders_above(folder), MOST_ABOVE)):
                yield from _of_python(posixpath.join(root, *module.split(".")), names)
    elif name.endswith(".rs"):
        base = folder if name in RUST_ROOTS else file.removesuffix(".rs")
        yield from (f"{base}/{one}" for one in (DECLARED.findall(text) if "mod " in text else ()))
