"""Set before anything of the laws is imported: here they are run often, on many logs.

`FORSY_LAWS=thorough pytest tests/test_adapters.py` runs the whole of them.
"""

import os

import pytest

os.environ.setdefault("FORSY_LAWS", "quick")
pytest.register_assert_rewrite("folders")
