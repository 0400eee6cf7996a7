"""Every law over every fixture of every bundled adapter."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forsy_retrace.convert import convert
from forsy_retrace.registry import bundled
from forsy_retrace.testing import HARDSHIPS, LAWS, Case, broken, cases, digest
from forsy_retrace.tokens import estimated
from forsy_retrace.writers import Written

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
CASES = [case for adapter in bundled() for case in cases(FIXTURES, adapter)]
FEW = [case for case in CASES if case.refused is None][:: max(1, len(CASES) // 3)][:3]

ELSEWHERE: tuple[dict[str, str], ...] = (
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8"},
)
PRINT_DIGESTS = """
import sys
from pathlib import Path
from forsy_retrace.testing import Case, digest
for folder in map(Path, sys.argv[1:]):
    print(digest(folder.parent.name, Case(folder.parent.name, folder)))
"""


def name_of(case: Case) -> str:
    return f"{case.adapter}/{case.folder.name}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_every_adapter_keeps_the_laws(case: Case) -> None:
    assert broken(case.adapter, case, [law for law in LAWS if law not in HARDSHIPS]) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_every_adapter_keeps_those_of_a_hard_life(case: Case) -> None:
    assert broken(case.adapter, case, HARDSHIPS) == []


@pytest.mark.parametrize("adapter", bundled())
def test_every_adapter_has_a_case(adapter: str) -> None:
    assert cases(FIXTURES, adapter)


def test_every_folder_of_fixtures_is_a_case() -> None:
    known = {case.folder for case in CASES}
    for adapter in bundled():
        assert {one for one in (FIXTURES / adapter).glob("*") if one.is_dir()} <= known


@pytest.mark.parametrize("environment", ELSEWHERE, ids=lambda one: one["TZ"])
def test_no_hash_seed_time_zone_or_locale_changes_a_byte(environment: dict[str, str]) -> None:
    there = subprocess.run(
        [sys.executable, "-c", PRINT_DIGESTS, *(str(case.folder) for case in FEW)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.split() == [digest(case.adapter, case) for case in FEW]


@pytest.mark.parametrize("case", FEW, ids=name_of)
def test_convert_writes_what_the_laws_look_at(case: Case, tmp_path: Path) -> None:
    """The goldens are the bytes that a user gets."""
    golden = case.folder / "trace"
    target = tmp_path / "trace"
    with estimated():
        written = [
            one for one in convert(case.path, case.adapter, target) if isinstance(one, Written)
        ]
    assert written
    for path in sorted(target.rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (golden / path.relative_to(target)).read_bytes()
