"""What shell commands are said to do. The lines here are ours, none is from a log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forsy_retrace.commands import Command, Simple, classify, lexer, tree
from forsy_retrace.commands.conditions import CONDITIONS
from forsy_retrace.commands.operands import KINDS, WHOLES
from forsy_retrace.commands.page import COLUMNS, page
from forsy_retrace.commands.table import Row, read, table

SHARED = Path(__file__).parents[2] / "shared"
CORPUS = SHARED / "corpus" / "claude-code"
LABELS = SHARED / "gold" / "labels"

OPERATIONS = {
    "cargo fmt --all -- --check": "verify",
    'for p in a b; do if [ -f $p ]; then n=$(grep -c total $p); echo "$n"; fi; done': "search",
    'printf "%s" "$HOME"; printf "%s" "$(cat a.txt)"': "read",
    "npx commitlint --from main": "verify",
    "git status": "read",
    "cd app && git diff --stat": "read",
    "git branch": "read",
    "fuser 8080/tcp": "read",
    "fuser -k 8080/tcp": "execute",
    "git branch -D old": "execute",
    "git config user.name": "read",
    "git stash list": "read",
    "git -C app log | head -3": "read",
    "git clone https://example.org/a.git": "download",
    "git apply fix.patch": "edit",
    "git add . && git commit -m 'a; b && c'": "execute",
    "git push && git log -1": "execute",
    "ls -la src": "search",
    "find . -name '*.py' | head": "search",
    "find . -name '*.pyc' -delete": "execute",
    "find . -name '*.py' -exec sed -i s/a/b/ {} +": "edit",
    "find . -name '*.py' -exec grep -l foo {} +": "search",
    "cat notes.md | grep -i todo": "read",
    "sed -n 1,20p app.py": "read",
    "decompile shop --function_name total": "read",
    "tshark -n -r shop.pcap -q -z io,phs": "read",
    "tcpdump -i eth0": "execute",
    "sed -i s/a/b/ app.py": "edit",
    "perl -pi -e s/a/b/ app.py": "edit",
    "echo hello > out.txt": "write",
    "echo hello >> out.txt": "edit",
    "cat > out.txt <<'E'\nhello\nE\ngit log -1 >> out.txt": "write",
    "cat > out.txt <<'E'\nhello\nE\ngit log -1 >> all.txt": "edit",
    "echo hello | sudo tee /etc/motd": "write",
    "git push 2>&1 | tee push.log": "execute",
    "sed -n 1,20p app.py | tee -a logs/app.log": "read",
    "git branch | tee a.log && echo && rg --files | tee b.log": "search",
    "which v > logs/check.log 2>&1; tail logs/check.log": "read",
    "ls -la >> logs/all.log": "search",
    "ls -la >> logs/all.txt": "edit",
    "echo hello | tee greeting.log": "write",
    "echo hello > greeting.log": "write",
    "cat notes.md | tee /dev/stderr | wc -l": "read",
    "ls src | tee": "search",
    "npm install |& tee out | tail -3": "install",
    "cat > app.py <<'EOF'\nprint(1)\nEOF": "write",
    "cat > /tmp/try.py <<'EOF'\nprint(1)\nEOF\npython /tmp/try.py": "execute",
    "cat > /tmp/build.sh <<'EOF'\ngit rebase main\nEOF\nbash /tmp/build.sh": "execute",
    "bash /tmp/shop/build.sh": "verify",
    "python - <<'EOF'\nprint(1)\nEOF": "execute",
    "curl -s https://example.org | jq .": "read",
    "curl -o a.tgz https://example.org/a.tgz": "download",
    "curl -so /dev/null -w '%{http_code}' localhost:8000": "read",
    "curl -X POST https://example.org/items": "execute",
    "wget https://example.org/a.tgz": "download",
    "wget -qO- https://example.org": "read",
    "pip install requests": "install",
    "npm ci && npm test": "verify",
    "mkdir -p out && ls out": "execute",
    "mkdir -p logs; (which go && go version) > logs/go.log; cat logs/go.log": "read",
    "mkdir -p logs; go version > other/go.log": "execute",
    "source .venv/bin/activate && pytest -q": "verify",
    "pytest && git status && ls": "verify",
    "git stash && pytest; git stash pop": "verify",
    "ruff format . && ruff check .": "edit",
    "ruff check . --fix": "edit",
    "black . && pytest": "verify",
    "go build -o app . && ./app serve": "verify",
    "./app serve": "execute",
    "./app --help | head": "read",
    "psql -c 'select 1'": "read",
    "psql -c 'delete from a'": "execute",
    "psql -c 'explain analyze delete from a'": "execute",
    "sqlite3 shop.db 'select 1; drop table a'": "execute",
    "sqlite3 shop.db '.import a.csv a'": "execute",
    "redis-cli get cart": "read",
    "redis-cli set cart 1": "execute",
    "vim": "execute",
    "nvim .": "execute",
    "code src/": "execute",
    "vim src/a.py": "edit",
    "history": "read",
    "history -c": "execute",
    "fdisk -l": "read",
    "git remote -v": "read",
    "node -v": "read",
    "frobnicate the cart --help": "read",
    "grep --version": "read",
    "ls --help": "read",
    "ls -h": "search",
    "echo --help": "other",
    "grep -rn -- --help src": "search",
    "python tests/runtests.py cart.tests": "verify",
    "./run_all_tests.py": "verify",
    "python prerun_tests.py": "execute",
    "test/run.sh": "verify",
    "python tests/run_all.py": "verify",
    "jobs/run.sh": "execute",
    "tests/run_server.sh": "execute",
    "aws ec2 describe-instances": "read",
    "gh pr list": "search",
    "gh run list --limit 1 --json conclusion": "search",
    "gh pr create --fill": "execute",
    "gh api graphql -f query='query {viewer {login}}'": "read",
    "kubectl get pods -n app": "read",
    "docker compose exec web pytest": "verify",
    "rg -l foo | xargs sed -i s/a/b/": "edit",
    "ssh host 'cd /srv && git pull'": "execute",
    "frobnicate now": "execute",
    "^cat notes.md": "read",
    "^cat^less": "execute",
    "export A=1": "other",
    "": "other",
    "# only a comment": "other",
}

CHECKS: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "pytest": ("tests", ()),
    "python3.12 -m pytest tests/test_a.py -k 'not slow' -x": (
        "tests",
        ("tests/test_a.py", "not slow"),
    ),
    "uv run --with x pytest -p no:cacheprovider": ("tests", ()),
    "go test ./... -run TestA -count=1": ("tests", ("TestA",)),
    "go vet ./...": ("lint", ()),
    "npm run test:unit -- src/a.test.ts": ("tests", ("src/a.test.ts",)),
    "npm run lint:fix": ("lint", ()),
    "yarn typecheck": ("types", ()),
    "make": ("build", ()),
    "make -j4 check-format": ("lint", ()),
    "just build": ("build", ()),
    "npx tsc --noEmit": ("types", ()),
    "tsc -b": ("build", ()),
    "mypy --strict app": ("types", ("app",)),
    "cargo clippy": ("lint", ()),
    "npx vitest run src/a.test.ts": ("tests", ("src/a.test.ts",)),
    "cargo fmt --check": ("lint", ()),
    "cargo fmt --all -- --check": ("lint", ()),
    "cargo test -- --nocapture": ("tests", ()),
    "cargo test -- --test-threads 1": ("tests", ()),
    "cargo nextest run": ("tests", ()),
    "cargo nextest run total": ("tests", ("total",)),
    "golangci-lint run ./pkg/...": ("lint", ("./pkg/...",)),
    "bash scripts/run_tests.sh": ("tests", ()),
    "gofmt -w a.go && go build ./...": ("build", ()),
    "gofmt -l .": ("lint", ()),
    "gofmt a.go": (None, ()),
    "prettier --write src": (None, ()),
    "prettier src/a.ts": (None, ()),
    "prettier -l src": ("lint", ("src",)),
    "npm run format": (None, ()),
    "npm run format:check": ("lint", ()),
    "ruff format .": (None, ()),
    "ruff format --diff .": ("lint", ()),
    "black .": (None, ()),
    "dart format --set-exit-if-changed lib": ("lint", ("lib",)),
    "zig fmt --check src": ("lint", ("src",)),
    "eslint --fix src": ("lint", ("src",)),
    "python app.py": (None, ()),
    "node -e 'console.log(1)'": (None, ()),
}


@pytest.mark.parametrize("line", OPERATIONS)
def test_a_line_takes_the_operation_of_what_it_is_for(line: str) -> None:
    assert classify(line).operation == OPERATIONS[line]


@pytest.mark.parametrize("line", CHECKS)
def test_a_check_says_its_kind_and_what_it_covers(line: str) -> None:
    seen = classify(line)
    check, covers = CHECKS[line]
    assert seen.check == check
    assert seen.covers == covers


@pytest.mark.parametrize(
    "line",
    [
        "pytest | tail -5",
        "pytest || true",
        "pytest; echo $?",
        "pytest\nls",
        "pytest &",
        "! pytest",
        "for i in 1 2; do pytest; done",
        "if pytest; then echo ok; fi",
        "(cd app && pytest) | head",
        "x=$(pytest)",
        "bash -c 'pytest' | tail",
    ],
)
def test_a_status_that_is_not_the_checks_own_is_masked(line: str) -> None:
    assert classify(line).masked


@pytest.mark.parametrize(
    "line",
    [
        "pytest",
        "pytest -q 2>&1",
        "cd app && pytest && echo ok",
        "set -o pipefail; pytest | tail -5",
        "pytest || exit 1",
        "pytest; exit $?",
        "bash -c 'cd app && pytest'",
    ],
)
def test_a_status_that_is_the_checks_own_is_not_masked(line: str) -> None:
    assert not classify(line).masked


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pytest -q tests", "cd app && sudo env pytest  -q 'tests' 2>&1 | tail -50"),
        ("make test", 'time make "test"; echo "exit: $?"'),
        ("go build .", "timeout 60 go build . > /dev/null && git status"),
    ],
)
def test_two_runs_of_one_command_have_one_normal_form(one: str, other: str) -> None:
    assert classify(one).normal == classify(other).normal


def test_the_normal_form_keeps_what_makes_two_runs_differ() -> None:
    lines = [
        "pytest a",
        "pytest 'a b'",
        "pytest a b",
        "CI=1 pytest a",
        "python - <<'EOF'\n1\nEOF",
        "python - <<'EOF'\n2\nEOF",
        "git commit -m \"$(cat <<'EOF'\none\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\ntwo\nEOF\n)\"",
    ]
    assert len({classify(line).normal for line in lines}) == len(lines)


def test_targets_are_told_apart() -> None:
    seen = classify(
        "cd app && cat a.txt | tee b.txt > c.txt; mv d e; python run.py < f; "
        "curl -sSLo g.tgz https://example.org/g.tgz; pip install -U 'h>=1' -r i.txt"
    )
    assert seen.cwd == "app"
    assert seen.reads == ("a.txt", "d", "run.py", "f")
    assert seen.writes == ("b.txt", "c.txt", "d", "e", "g.tgz")
    assert seen.urls == ("https://example.org/g.tgz",)
    assert seen.packages == ("h>=1",)


@pytest.mark.parametrize(
    ("line", "here"),
    [
        ("ssh host 'cd /srv && cat a.py > b.py && git stash && cat <<E > c.py\nx\nE'", ()),
        ("sudo ssh -i key host \"python -c 'open(1)'\"", ()),
        ("ssh host cat /etc/hosts > hosts.txt", ("hosts.txt",)),
        ("ssh host 'pytest tests' && cat a.py > b.py", ("b.py",)),
    ],
)
def test_what_runs_on_another_machine_names_no_file_of_this_one(
    line: str, here: tuple[str, ...]
) -> None:
    seen = classify(line)
    assert seen.writes == here
    assert seen.cwd is None
    assert not seen.inline
    assert all(one.at for one in seen.poured)
    assert "git" not in seen.programs


def test_the_pattern_of_a_rewrite_is_no_file() -> None:
    lines = ("sed -i s/a/b/ cart.py", "sed -i '' s/a/b/ cart.py", "sed -i '' -e s/a/b/ cart.py")
    assert {classify(line).writes for line in lines} == {("cart.py",)}
    assert classify("rg -l foo | xargs sed -i s/a/b/").writes == ()
    assert classify("rg -l foo | xargs perl -pi -e s/a/b/").writes == ()
    assert classify("grep '' cart.py | cat notes.txt").reads == ("cart.py", "notes.txt")


def test_behind_tee_only_its_files_are_written() -> None:
    assert classify("sed -n 1,9p a.txt | tee -a b.txt /dev/tty").writes == ("b.txt",)
    assert classify("cat a.txt | tee >(wc -l) /dev/stderr").reads == ("a.txt",)
    assert classify("cat a.txt | tee /dev/stderr").writes == ()


def test_only_an_address_is_opened_in_a_browser() -> None:
    lines = ("open https://example.org", "open .", "xdg-open a.pdf", "mc", "mc ls shop")
    assert [classify(line).surface for line in lines] == ["browser", "cli", "cli", "cli", "api"]


def test_a_forge_is_asked_over_its_api() -> None:
    seen = {
        line: classify(f"gh {line}") for line in ("pr create", "pr checkout 7", "extension list")
    }
    assert [one.surface for one in seen.values()] == ["api", "cli", "api"]
    assert [one.operation for one in seen.values()] == ["execute", "execute", "read"]


def test_a_size_for_people_is_no_call_for_help() -> None:
    assert classify("free -h").rule == "free"
    assert classify("git remote -v").rule == "git remote"
    assert classify("cargo -h").rule == "help"


def test_words_behind_a_double_dash_are_no_program() -> None:
    assert classify("cargo run -p shop -- --prompt hi").reads == ()
    assert classify("cargo build && cargo run -- --prompt hi").check == "run"
    assert classify("node app.js -- --prompt hi").reads == ("app.js",)


def test_only_a_word_of_its_own_is_a_file_of_powershells() -> None:
    seen = classify("(Get-Content a.txt -Raw).Length; gc (Join-Path b c) d.txt", "powershell")
    assert seen.reads == ("a.txt", "d.txt")


def test_what_a_line_prints_where_it_comes_to_nothing_is_told() -> None:
    line = "ls; cat a.txt 2>/dev/null && cat b.txt || echo 'no notes'; cat c.txt || echo \"$none\""
    [excuse] = classify(line).excuses
    assert (excuse.first, excuse.end, excuse.words) == (1, 3, "no notes")
    assert classify("cat a.txt || echo none > log").excuses == ()
    assert classify("cat a.txt || cat b.txt || echo none").excuses[0].first == 0


def test_what_is_told_of_is_not_shown() -> None:
    shows = {
        line: classify(line).simples[0].shows for line in ("cat a", "wc -l a", "ls a", "cat a > b")
    }
    assert shows == {"cat a": True, "wc -l a": False, "ls a": False, "cat a > b": False}


def test_every_simple_command_of_a_line_is_listed_in_order() -> None:
    seen = classify(
        "a=$(git rev-parse HEAD); for f in *.py; do sudo wc $f; done | sort && (ls; pwd)"
    )
    assert [done.name for done in seen.simples] == [
        "git rev-parse", "", "wc", "sort", "ls", "pwd",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("for t in lint test; do npm run $t; done", ["npm run lint", "npm run test"]),
        ('for f in a "b c"; do wc "${f}" > $f.log; done', ["wc a", "wc b c"]),
        ("for f in a b; do for g in c d; do w $f$g; done; done", ["w ac", "w ad", "w bc", "w bd"]),
        ("for f in *.py; do wc $f; done", ["wc $f"]),
        ("for f in $(cat); do wc $f; done", ["cat", "wc $f"]),
        ("for i in 1 2 3; do make test; done", ["make test"]),
        ("for f in a b; do wc $files; done", ["wc $files"]),
        ("for f in a b; do f=$f.py; wc $f; done", ["", "wc $f"]),
    ],
)  # fmt: skip
def test_a_loop_over_few_words_is_its_rounds(line: str, words: list[str]) -> None:
    assert [" ".join(one.words) for one in classify(line).simples] == words


def test_a_move_in_a_loop_goes_to_several_folders() -> None:
    seen = classify("for d in app web; do (cd $d && npm test); done")
    assert (seen.cwd, seen.check, seen.masked) == (None, "tests", True)


def test_a_redirect_to_a_word_of_several_variables_is_one_file() -> None:
    part = tree.split("a >$S/i_$f.log 2>&1")[0]
    assert part.redirects[0] == (">", "$S/i_$f.log")


def test_leading_moves_add_up_and_are_no_part_of_the_normal_form() -> None:
    seen = classify("cd app && cd src && ls")
    assert (seen.cwd, seen.normal) == ("app/src", "ls")
    assert classify("cd app && cd /srv && ls").cwd == "/srv"
    assert classify("ls && cd app").cwd is None


def test_a_fixer_is_noted() -> None:
    assert classify("prettier --write a.ts && npm test").fixes
    assert not classify("prettier --check a.ts").fixes


@pytest.mark.parametrize(
    ("line", "shell", "operation", "main"),
    [
        (r"Get-ChildItem C:\app | Select-Object -First 3", "powershell", "search", "get-childitem"),
        ("$x = Get-Content a.txt; Remove-Item a.txt", "powershell", "execute", "remove-item"),
        (r"cd C:\app & dir *.log", "cmd", "search", "dir"),
        ("open a.json | get b", "nu", "read", "open"),
        ("set -x A 1; and pytest", "fish", "verify", "pytest"),
        ("npm test", "powershell", "verify", "npm test"),
        ("if (Test-Path a) { 'yes' } else { 'no' }", "powershell", "read", "test-path"),
        ("if (-not (Test-Path a)) { New-Item a }", "powershell", "execute", "new-item"),
        ("if ($code -ne 0) { $code }", "powershell", "other", ""),
        ('npm test; "passed: $($n / 2)"', "powershell", "verify", "npm test"),
        ("dir | ForEach-Object { $n = (sls x $_).Count; $n }", "powershell", "search", "sls"),
        (
            "if (Test-Path x) { Remove-Item x } else { 'none' }",
            "powershell",
            "execute",
            "remove-item",
        ),
        ("$h = @{ a = 1; b = 2 }", "powershell", "other", ""),
        ("irm -Method Post https://example.org", "powershell", "execute", "irm"),
        ("irm https://example.org", "powershell", "read", "irm"),
        ("[IO.File]::Delete('a')", "powershell", "execute", "[IO.File]::Delete('a')"),
    ],
)
def test_other_shells_have_their_own_words(
    line: str, shell: str, operation: str, main: str
) -> None:
    seen = classify(line, shell)
    assert (seen.operation, seen.main) == (operation, main)


@pytest.mark.parametrize(
    "line",
    [
        "a b | c && d || e; f &",
        "A=1 b 'c d' \"e $f\" g\\ h",
        'x=$(git rev-parse HEAD) && echo `pwd` "$(ls | wc -l)"',
        "for f in *.py; do wc $f; done | sort > out",
        "if a; then b; else c; fi",
        "(cd x && a) | b",
        "cat > f <<'EOF'\nx $(y)\nEOF\nrun f",
        "a 2>&1 >out <in # done",
    ],
)
def test_the_lexer_and_the_grammar_agree(line: str) -> None:
    quick = lexer.split(line)
    assert quick is not None
    assert [p.words for p in quick if p.words] == [p.words for p in tree.split(line) if p.words]


@pytest.mark.parametrize(
    "line", ["case $a in b) c;; esac", "a=(b c)", "f() { a; }", "diff <(a) <(b)", "a 'b", "((a++))"]
)
def test_what_needs_the_grammar_is_left_to_it(line: str) -> None:
    assert lexer.split(line) is None
    assert classify(line).simples


def test_letters_of_any_script_keep_their_place() -> None:
    """The grammar's scanner read beyond a table for them, and ended the process now and then."""
    found = classify("echo {\U000d144f..3}; grep 'größe' \u65e5\u672c.txt | sort (")
    assert [one.words for one in found.simples][1:2] == [("grep", "größe", "\u65e5\u672c.txt")]


SHELLISH = st.lists(
    st.sampled_from(
        [
            *OPERATIONS,
            *"|&;<>(){}'\"`$\\#!=\n \t*?~[]\x00\ud800é",
            *("&&", "||", "<<EOF\n", "EOF\n", "$(", "))", "2>&1", ">>", "<<<", "-", "--"),
            *("for x in", "do", "done", "if", "then", "fi", "case", "esac"),
            *("bash -c", "find -exec", "sudo", "xargs"),
        ]
    )
).map("".join)


@pytest.mark.slow
@given(
    st.text() | SHELLISH, st.sampled_from(["bash", "zsh", "sh", "powershell", "fish", "nu", "cmd"])
)
@settings(max_examples=400, deadline=None)
def test_no_text_makes_it_raise(line: str, shell: str) -> None:
    assert isinstance(classify(line, shell), Command)


@pytest.mark.parametrize(
    "line",
    ["(" * 20_000, "$(" * 20_000, "a " * 60_000, "`" * 9_999, "bash -c '" * 500, "{ " * 5_000],
)
def test_no_length_or_depth_makes_it_raise(line: str) -> None:
    assert isinstance(classify(line), Command)


def test_the_table_holds_only_known_values() -> None:
    for row in read().row:
        assert row.operation in {
            "read", "search", "write", "edit", "execute", "verify", "download", "install", "other",
            "verb",
        }, row  # fmt: skip
        assert row.check in {"", "tests", "lint", "types", "build", "ci"}, row
        assert row.role in {"work", "prep", "view", "fix", "format"}, row
        assert row.surface in {"cli", "api", "browser", "database", "messaging"}, row
        assert row.shell in {"", "powershell", "cmd", "powershell cmd", "fish", "nu"}, row
        assert set(row.operands.split()) <= {*KINDS, *WHOLES}, row
        assert all(f[0] == "-" or f in CONDITIONS for f in row.flags.split()), row


def test_no_two_rows_claim_one_command() -> None:
    homes = [table().groups, *table().shells.values()]
    assert len(homes[0].rows) > 1000
    for group in (home[name] for home in homes for name in home.rows):
        for choices in (group.plain, *group.subs.values()):
            plain = [choice.label for choice in choices if not choice.row.flags]
            assert len(plain) <= 1, plain


def test_the_page_describes_every_column_and_row() -> None:
    assert tuple(sorted(COLUMNS)) == tuple(sorted(Row.__struct_fields__))
    written = Path(__file__).parents[1] / "docs" / "commands.md"
    assert written.read_text(encoding="utf-8") == page()


def logged(file: Path) -> Iterator[tuple[str, str]]:
    """Id and command of every Bash call in a log."""
    for text in file.read_text(encoding="utf-8", errors="replace").splitlines():
        if '"Bash"' not in text:
            continue
        try:
            waiting: list[object] = [json.loads(text)]
        except ValueError:
            continue
        while waiting:
            match waiting.pop():
                case {"type": "tool_use", "name": "Bash", "id": str(call), "input": dict(given_)}:
                    if isinstance(command := given_.get("command"), str):
                        yield call, command
                case dict(held):
                    waiting.extend(held.values())
                case list(held):
                    waiting.extend(held)


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus at {CORPUS}")
def test_few_commands_of_real_logs_are_in_no_table() -> None:
    lines = {line for file in CORPUS.rglob("*.jsonl") for _, line in logged(file)}
    seen: list[Simple] = [done for line in sorted(lines) for done in classify(line).simples]
    unknown = [done for done in seen if done.rule == "unknown-command"]
    assert len(unknown) < 0.05 * len(seen)


@pytest.mark.gold
@pytest.mark.skipif(not LABELS.is_dir(), reason=f"no labels at {LABELS}")
def test_the_operation_agrees_with_a_careful_reader() -> None:
    right = total = 0
    for file in sorted(LABELS.glob("*.json")):
        labels = json.loads(file.read_text(encoding="utf-8"))
        lines = dict(logged(CORPUS / labels["source"]))
        for call in labels["calls"]:
            if call["id"] in lines:
                total += 1
                right += classify(lines[call["id"]]).operation == call["operation"]
    assert right >= 0.93 * total


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch\n"


@pytest.mark.parametrize(
    ("line", "fed"),
    [
        (f"cd shop && apply_patch <<'EOF'\n{PATCH}EOF\nls", (PATCH,)),
        (f"apply_patch <<'EOF'\n{PATCH}", (PATCH,)),
        (f"cat > page.md <<'EOF'\napply_patch <<'PATCH'\n{PATCH}PATCH\nEOF", ()),
        (f"echo apply_patch; cat <<'EOF'\n{PATCH}EOF", ()),
    ],
)
def test_a_patch_is_what_its_command_is_fed(line: str, fed: tuple[str, ...]) -> None:
    assert classify(line).fed == fed


def test_of_a_long_line_that_needs_the_grammar_nothing_cut_is_poured() -> None:
    line = "f() {{ ls; }}\ncat > f <<'E'\n{}E\n"
    assert [one.text for one in classify(line.format("x\n")).poured] == ["x\n"]
    long = classify(line.format("x\n" * 5000))
    assert (long.poured, [one.words[0] for one in long.simples]) == ((), ["ls", "cat"])
