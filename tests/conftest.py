"""Set before anything of the laws is imported: here they are run often, on many logs.

A fault of ours is raised here, and not told in one line.

`just laws` runs the whole of them.
"""

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

os.environ.setdefault("FORSY_LAWS", "quick")
os.environ.setdefault("FORSY_TRACEBACK", "1")
pytest.register_assert_rewrite("asked", "folders")

MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory: ten thousand small ones took a disk half of the time."""
ROOM = 1 << 30

if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("TMPDIR", str(MEMORY))
    tempfile.tempdir = None  # it may have been asked for before

CACHE = tempfile.mkdtemp(prefix="forsy-cache-")
os.environ["XDG_CACHE_HOME"] = CACHE
"""What programs keep for their next run is no news to the user who tests them."""

BYTECODE = Path(__file__).parents[1] / ".pytest_cache" / "bytecode"

if sys.dont_write_bytecode:  # hundreds of processes would compile hundreds of modules anew
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(BYTECODE)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def pytest_sessionfinish() -> None:
    """What a worker holds goes with it: seconds were lost looking for cycles in it at the end."""
    shutil.rmtree(CACHE, ignore_errors=True)
    gc.freeze()
