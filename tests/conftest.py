"""Set before anything of the laws is imported: here they are run often, on many logs.

A fault of ours is raised here, and not told in one line.

`FORSY_LAWS=thorough pytest tests/test_adapters.py` runs the whole of them.
"""

import os

import pytest

os.environ.setdefault("FORSY_LAWS", "quick")
os.environ.setdefault("FORSY_TRACEBACK", "1")
pytest.register_assert_rewrite("folders")
