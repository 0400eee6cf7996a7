"""What a command prints alone, dumps of bytes, and what else only its surroundings give away.

Every value here is random and was put together at run time; none was ever issued.
"""

import base64
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from asked import run
from bounded import is_bounded
from test_redaction import HEX, password, some

from forsy_retrace.printings import asked_for
from forsy_retrace.redact import leaves
from forsy_retrace.redaction import Masker, mask, printed
from forsy_retrace.redaction import rules as rule_files

ALONE = [
    "pass show db | head -1",
    "cd app && gh auth token 2>/dev/null || echo none",
    "kubectl -n a get secret/db -o jsonpath='{.data.password}' | base64 --decode; echo",
    "kubectl get secret db -o go-template='{{.data.pw|base64decode}}'",
    "kubectl exec db-0 -- printenv POSTGRES_PASSWORD",
    "docker exec db sh -c 'echo $MYSQL_ROOT_PASSWORD'",
    'source .env && echo "${API_KEY}"',
    "vault read -field=password database/creds/app",
    "vault login -method=userpass username=a -token-only",
    "git config --get github.token",
    "npm config get //registry.npmjs.org/:_authToken",
    "aws configure get aws_secret_access_key",
    "az account get-access-token --query accessToken -o tsv",
    "oc whoami -t",
    "docker exec j cat /var/jenkins_home/secrets/initialAdminPassword",
    "cat .vault_pass; cat ~/.config/app/token",
    "cat /run/secrets/db_password",
    "cat creds.json | jq -r '.db.password'",
    "gh api user/tokens -q '.[0].token'",
    "awk -F= '/DB_PASSWORD/{print $2}' .env",
    "sed -n 's/^API_KEY=//p' .env",
    "python3 -c \"import os; print(os.environ['API_KEY'])\"",
    "node -p 'process.env.API_KEY'",
    "node -e \"console.log(require('crypto').randomBytes(32).toString('hex'))\"",
    "pwsh -c '$env:API_KEY'",
    "head -c 32 /dev/urandom | base64",
    "gpg --decrypt ~/.password-store/db.gpg 2>/dev/null | head -1",
    "age -d -i key.txt token.age",
    "base64 -d secret.b64",
    "psql -At -c 'select api_key from users where id=1'",
    "redis-cli config get requirepass",
    "wg genkey | tee privatekey",
    "argocd admin initial-password -n argocd",
    "cat ~/.google_authenticator",
    "cat ~/.config/solana/id.json",
    "manage.py shell -c 'print(get_random_secret_key())'",
    "npx dotenv -p API_KEY",
    "printf '%s\\n' \"$API_KEY\"",
    "echo -n $API_KEY",
    "python3 -c 'import os; print(os.getenv(\"API_KEY\"))'",
    "python manage.py shell -c 'from django.conf import settings; print(settings.SECRET_KEY)'",
    "node -e \"console.log(process.env['API_KEY'])\"",
    "ruby -e 'puts ENV[\"API_KEY\"]'",
    "grep -oP '(?<=API_KEY=).*' .env",
    "awk -F= '$1==\"API_KEY\"{print $2}' .env",
    "jq -r '.[\"api-key\"]' c.json",
    "terraform output db_token",
    "git config github.token",
    "sops --decrypt --extract '[\"a\"]' s.yaml",
    "kubectl get secret a --template='{{.data.password}}'",
    "kubectl config view --raw -o jsonpath='{.users[0].user.token}'",
    "pass db/prod",
    "gpg --decrypt secrets.txt.gpg",
    "find . -name '*.token' -exec cat {} \\;",
    "node -pe 'process.env.API_KEY'",
    "grep -Po 'API_KEY=\\K.*' .env",
    "echo ${DB_PASSWORD:-unset}",
    "cat < token.txt",
    "nl token.txt",
    "more token.txt",
    "strings token.txt",
    "cat *.token",
    "aws ssm get-parameter --name x --with-decryption --query Parameter.Value",
    "vault login -field=token",
    "vault kv get -field=value secret/x",
    "security find-generic-password -ws db",
    "keepassxc-cli show db.kdbx x",
    "op signin --raw",
    "launchctl getenv API_KEY",
    "echo %API_KEY%",
    "Get-Secret -Name x -AsPlainText",
    "gh auth token | xxd",
    "pulumi config get dbPassword",
    "akeyless get-secret-value --name a",
    "gh  auth token",
    "'gh' auth \\\n token",
    'bash -c "echo \\$API_KEY"',
    "T=$(gh auth token); echo $T",
    'echo "$(gh auth token)"',
    "gh auth token > /dev/stderr",
    "ssh h <<'E'\ngh auth token\nE",
    "bash -c 'pwd; gh auth token' | head -1",
    "less token.txt",
    "cat VERSION token.txt",
    "sed -n 1p .vault_pass",
    "tr -d '\\n' < .vault_pass",
    "awk '{print $1}' token.txt",
    "cat $TOKEN_FILE",
    "cat <<< $API_KEY",
    "echo -e $API_KEY",
    "env | grep API_KEY | cut -d= -f2",
    "cat .env | grep DB_PASSWORD | awk -F= '{print $2}'",
    "grep -m1 API_KEY .env | cut -d= -f2-",
    "grep password c.yaml | awk '{print $2}'",
    "jq -r --arg x y '.token' a.json",
    "jq -r '.db | .password' a.json",
    "terraform output -json | jq -r .db_password.value",
    "doppler secrets get --plain API_KEY",
    "heroku config:get -a app API_KEY",
    "pulumi stack output dbPassword --show-secrets",
    "aws sts assume-role --role-arn a --query Credentials.SecretAccessKey --output text",
    "curl -s h | python3 -c 'import json,sys;print(json.load(sys.stdin)[\"access_token\"])'",
    "[Environment]::GetEnvironmentVariable('API_KEY')",
    "node -e 'process.stdout.write(process.env.API_KEY)'",
]


def shown(asked: object, output: str) -> str:
    """An output as a trace has it beside what was asked for."""
    masker = Masker()
    for one in asked_for(asked):
        masker.learn_printed(one, output)
    masker.learn(output)
    masker.seal()
    return masker.mask(output)


@pytest.mark.parametrize("command", ALONE)
def test_what_a_command_prints_alone_is_secret_by_the_command(command: str) -> None:
    secret = some(32)
    for asked in (command, json.dumps({"command": command}), json.dumps({"argv": ["-c", command]})):
        assert shown(asked, f"{secret}\n") == "[CREDENTIAL_1]\n"
        assert shown(asked, f"ready.\n{secret}\nand more") == "ready.\n[CREDENTIAL_1]\nand more"
    assert shown(command, f"see {secret} there") == f"see {secret} there"
    assert mask(f"{secret}\n") == f"{secret}\n"


def test_every_row_of_what_is_printed_is_bounded_and_meets_a_case() -> None:
    from test_redaction import test_what_such_a_command_prints_is_secret as others

    (marked,) = others.pytestmark  # type: ignore[attr-defined]
    cases = [
        *ALONE,
        *marked.args[1],
        "kubectl get secret a -o jsonpath='{.data}'",
    ]
    fired = {row for case in cases for row in _fired(case)}
    for row in rule_files.prints():
        for pattern in (row.lead, row.left, row.of):
            assert is_bounded(pattern), pattern
    assert {row.id for row in rule_files.prints()} - fired == set()


def _fired(command: str) -> set[str]:
    return {one.row.id for one in printed.fired(command)}


COMMIT, UUID = "4f2b8c1d9e0a7365b4c8d2e1f0a9b8c7d6e5f403", "3f2a1b9c-8d7e-4f60-a1b2-c3d4e5f60718"


@pytest.mark.parametrize(
    ("asked", "output"),
    [
        ("git rev-parse HEAD", "4f2b8c1d9e0a7365b4c8d2e1f0a9b8c7d6e5f403"),
        ("cat VERSION", "2.14.0-rc1"),
        ("echo $HOME", "/home/dev"),
        ("echo $MAX_TOKENS", "4096"),
        ("echo $PWD", "/srv/app"),
        ("echo ${API_KEY:+set}", "set"),
        ("gh auth token", "no oauth token found for github.com"),
        ("gh auth token || echo none", "none"),
        ("pass show db", "Error: db is not in the password store."),
        ("kubectl get secret db -o jsonpath='{.data.username}' | base64 -d", "app_reader1"),
        ("grep -rl API_KEY src | cut -d: -f1", "src/config/v2/settings.py"),
        ("jq -r .tokens usage.json", "15214"),
        ("cat src/token.py", "import1os"),
        ("select id from users", "a81bc81bdead4e5dabff90865d1e13b1"),
        ("head -5 notes.md", "Tiger-Lake!42"),
        ("node -e \"const id = randomBytes(8).toString('hex')\"", "updated a81bc81bdead4e5d"),
        ("export GH_TOKEN=$(gh auth token) && git push -q && git rev-parse HEAD", COMMIT),
        ('curl -H "Authorization: token $(gh auth token)" x | jq -r ".[].sha"', COMMIT),
        ("P=$(kubectl get secret a -o jsonpath={.data.pw}) psql -tAc 'select id'", UUID),
        ("DB=$(pass show db) ./deploy.sh", "done"),
        ("TOKEN=$(op read op://a/b/c) curl -s http://h/version", "v2.14.0-rc1"),
        (
            "aws ecr get-login-password | docker login --password-stdin r; docker images -q",
            "3f2a1b9c8d7e",
        ),
        ("echo $DOCKER_PASSWORD | docker login -u a --password-stdin; docker push x", "Succeeded"),
        ("SECRET_KEY=$(openssl rand -hex 32) docker compose up -d && docker compose ps -q", COMMIT),
        ("pass show db >/dev/null && echo exists", "exists"),
        ('[ -n "$(pass show db)" ] && echo nonempty', "nonempty"),
        ("op read op://a/b/c > /dev/null && echo works", "works"),
        ("printenv DB_PASSWORD > /dev/null && echo available", "available"),
        ("echo $DB_PASSWORD | sha256sum | cut -c1-12", "a2b3c4d5e6f7"),
        ("kubectl get secret a -o jsonpath='{.data.password}' | sha256sum", COMMIT),
        ("openssl rand -hex 4 > /tmp/x; git rev-parse HEAD", COMMIT),
        ("pass show db", "not-found"),
        ("gopass show db", "Timeout"),
        ("op read op://a/b/c", "[ERROR]"),
        ("heroku config:get DB_PASSWORD", "Forbidden"),
        ("echo $PASSWORD", "(empty)"),
        ("pass show db/username", "alice"),
        ("op read op://a/b/username", "alice"),
        (
            {
                "command": "git rev-parse HEAD",
                "description": "Create token for release and print commit",
            },
            COMMIT,
        ),
        ("git commit -m 'Add token create endpoint' && git rev-parse HEAD", COMMIT),
        ("git commit -m 'docs: gh auth token' -q; git rev-parse HEAD", COMMIT),
        ("grep -rn 'create token' docs; git rev-parse HEAD", COMMIT),
        ("pytest -k 'pass show' -q | tail -1", "passed"),
        ("cat > d.sh <<'EOF'\nT=$(pass show x)\nEOF\nchmod +x d.sh && echo done", "done"),
        ({"prompt": "Find where we cat token files; keep it less token heavy"}, "src/Auth2Service"),
        ("kubectl get pods | grep token-api | awk '{print $1}'", "token-api-7d9f8b6c5-x2k9q"),
        ("docker images | grep secret-manager | awk '{print $3}'", "3f2a1b9c8d7e"),
        ("git log --format=%H | grep token | awk '{print $1}'", COMMIT),
        ("awk '/token/{print $1}' access.log", "2026-01-02T03:04:05Z"),
        ("awk '/password/ {print FILENAME\":\"FNR}' *.py", "a2B3.py:12"),
        ("cat backup.txt", "a2B3c4D5e6"),
        ("cat setup.cfg", "a2B3c4D5e6"),
        ("cat docs/authors.txt", "a2B3c4D5e6"),
        ("git rev-parse HEAD feature/token", COMMIT),
        ("head tokens.txt", "GPT2x9Qz"),
        ("aws secretsmanager get-secret-value --secret-id a --query VersionId --output text", UUID),
        (
            "az keyvault secret show --name a --query attributes.created -o tsv",
            "2026-01-02T03:04:05+00:00",
        ),
        ("az keyvault list --query '[].name' -o tsv", "shop-vault-prod1"),
        ("kubectl get secret db -o jsonpath='{.metadata.uid}'", UUID),
        ("kubectl get secret db -o jsonpath='{.data.username}' | base64 -d", "shop_Reader1"),
        ("op item get db --fields username", "shop_Reader1"),
        ("cat /run/secrets/db_user", "shop_Reader1"),
        ("git config --get user.signingkey", "3AA5C34371567BD2"),
        ("pulumi config get imageTag", "v2.14.0-rc1"),
        ("railway variables get NODE_ENV", "production1"),
        ("git rev-parse HEAD", COMMIT),
        ("terraform output vpc_id", "vpc-0a1b2c3d4e5f"),
        ("echo $GITHUB_SHA", COMMIT),
        ("cat package.json | jq -r .name", "shop2Web"),
        ("ls src | head -3", "Auth2Service"),
        ("gh auth token | head -c 4; echo; git rev-parse HEAD", COMMIT),
        ("jq -r .token a.json | cut -c1-8; git rev-parse HEAD", COMMIT),
        ('echo "$(cat token.txt)" | gh auth login --with-token; git rev-parse HEAD', COMMIT),
        ("bash -c 'gh auth token; pwd' | wc -c; git rev-parse HEAD", COMMIT),
        ("grep -h API_KEY .env | cut -d= -f1", "OAUTH2_API_KEY"),
        ("awk -F= '/TOKEN/{print $1}' .env", "OAUTH2_TOKEN"),
        ("cat required_secrets", "S3_SECRET_KEY"),
        ("grep -oh 'useToken[A-Za-z0-9]*' src/a.ts", "useTokenV2Store"),
        ("grep -rn password src | cut -d: -f3-", "  foo(Bar1),"),
        ("grep token access.log | sed 's/.*id=//'", UUID),
        ("jq -r 'select(.token) | .id' a.json", UUID),
        ("jq -r 'del(.token) | .id' a.json", UUID),
        ("jq '.secret | keys' a.json", '[\n  "vault2X9aQ"\n]'),
        ("yq .existingSecret values.yaml", "shop2Db9xYz1"),
        ("jq .tokens usage.json", '{\n  "model": "gpt2X9aQ"\n}'),
        ("jq -r '.auth' a.json", '{\n  "user": "dev2X9aQ"\n}'),
        ("cat token.txt | openssl sha256 | awk '{print $2}'", COMMIT + COMMIT[:24]),
        ("printenv API_KEY | openssl md5", COMMIT[:32]),
        ("python -c \"print(hashlib.sha256(os.environ['API_KEY'].encode()).hexdigest())\"", COMMIT),
        ("az ad app credential list --query '[].keyId' -o tsv", UUID),
        ("az account get-access-token --query tenant -o tsv", UUID),
        ("printenv DB_PASSWORD || echo not-here", "not-here"),
        ("printenv DB_PASSWORD; echo exit=$?", "exit=1"),
        ("echo ${DB_PASSWORD:-none_at_all}", "none_at_all"),
        ("echo $DB_PASSWORD; git rev-parse --abbrev-ref HEAD", "main"),
        ("printenv DB_PASSWORD | grep -q . && echo yes-set", "yes-set"),
        ("pass show db | sed -n 's/^user: //p'", "alice"),
        ("op read op://a/b/database", "shop"),
        ("rg -n 'select token from' src; git rev-parse HEAD", COMMIT),
        ("pulumi stack output vpcId --show-secrets", "vpc-0a1B2c3D4e5F"),
        ("vault token create -field=token_accessor", "a81bc81bdead4e5dabff90865d1e13b1"),
        (
            {"command": ["bash", "-lc", "git rev-parse HEAD"], "workdir": "/home/a/next-token"},
            COMMIT,
        ),
        ({"command": "git rev-parse HEAD", "cwd": "/home/a/secrets"}, COMMIT),
        ({"pattern": "pass show", "path": "."}, "scripts/deploy2X"),
        ({"pattern": "import", "path": "/srv/app/tokens"}, "Auth2Service"),
        ({"query": "how to select token from header in nginx"}, "Auth2Vendor9"),
        ("gh auth token", '"name": "[CREDENTIAL_1]",'),
        ("cat token.txt", "[CREDENTIAL_1]"),
        ("pass show db", "[[CREDENTIAL_1]"),
        (
            "printenv GITHUB_TOKEN; env | sort",
            "\nHOME=/root\nNODE_VERSION=20.11.1\nTERM=xterm-256color",
        ),
        ("echo $DB_PASSWORD; cat .env.example", "\nNODE_ENV=production\nDB_URL=postgres://u@h/d"),
        ("echo $OPENAI_API_KEY; pip freeze", "\nrequests==2.31.0\nPyYAML==6.0.1"),
        ("cat .env; echo $API_KEY; npm ls --parseable", "\n/w/node_modules/a2B\nreact@18.2.0"),
        ("npm config get //r/:_authToken; node -v", "undefined\nv20.11.1"),
        ("source .env; echo $API_KEY; date -Is", "x\n2026-01-02T03:04:05+00:00"),
        ("echo $DB_PASSWORD; git branch --show-current", "\nfeature/JIRA-1234-login2"),
        ("echo $API_KEY; cat a_test.go", "\n\tt.Parallel()\n\tsetStatus2(res.status);"),
        (
            "kubectl get secret a -o jsonpath='{.data}'",
            "Unable to connect to the server: dial tcp 10.0.0.1:6443: i/o timeout:x type:secretss",
        ),
        ("kubectl get secret a -o jsonpath='{.data}' | jq keys", '["host9db","user1name"]'),
        ("cat bin/get-token", "client=boto3.client2('sm')"),
        ("cat tools/token", "#!/bin/sh\nrun-tests-v2.1b3"),
        ({"path": "/srv/secrets"}, "- reset2/\n- forgotV2"),
        ("cut -d: -f1 /etc/passwd", "root\nnode2x9\nUser9x"),
        ({"file_path": "/etc/passwd"}, "_apt:x:100:65534::/nonexistent:/usr/sbin/nologin"),
        ("cat expected/tokens.txt", "NUMBER2x9\nIDENTx2"),
        ("pass show db", "bash:"),
        ("pass show db", "Traceback"),
        ("python3 -c \"import os; print(os.environ.get('API_KEY','')[:6])\"", "sk-x9K"),
        ("jq .token r.json", "[\n  1.5e-05,\n  -3.2e-07\n]"),
    ],
)
def test_what_is_no_secret_stays_whatever_was_asked(asked: object, output: str) -> None:
    assert shown(asked, output) is output


@pytest.mark.parametrize(
    "command", ["pass show db", "printenv DB_PASSWORD", "echo $DB_PASSWORD", "op read op://a/b/c"]
)
def test_the_only_word_of_a_keeper_of_passwords_is_secret_whatever_it_looks_like(
    command: str,
) -> None:
    assert shown(command, "sunset\n") == "[CREDENTIAL_1]\n"
    assert shown(command, "sunset\nsunrise\n") == "sunset\nsunrise\n"


@pytest.mark.parametrize(
    "shape",
    [
        *("L1: {}", "00001| {}", "1 | {}", "     1\t{}", "- {}", "b'{}'", '["{}"]', "{}          "),
        *('[\n  "{}",\n  "x"\n]', "| api_key |\n|---|\n| {} |", "<output>{}</output>", "{}\r\n"),
        "Exit code: 0\nWall time: 1 seconds\nOutput:\n{}\n",
    ],
)
def test_a_value_stands_alone_in_many_ways(shape: str) -> None:
    secret = some(32)
    assert shown("gh auth token", shape.format(secret)) == shape.format("[CREDENTIAL_1]")


def test_what_a_command_prints_is_found_in_a_dump_too() -> None:
    secret = password()
    masked = shown("pass show db | xxd", xxd(f"{secret}\n".encode()))
    assert secret[-6:] not in masked
    assert secret.encode().hex()[-8:-4] not in masked


def test_a_member_is_masked_to_its_end_whatever_it_holds() -> None:
    secret = some(9) + '"' + some(9)
    masked = shown("kubectl get secret a -o jsonpath='{.data}'", json.dumps({"a": secret}))
    assert masked == '{"a":"[CREDENTIAL_1]"}'.replace(":", ": ")


def test_a_file_that_a_tool_read_is_as_one_that_was_printed() -> None:
    secret = password()
    asked = json.dumps({"file_path": "/home/dev/app/.vault_pass"})
    assert shown(asked, f"     1→{secret}\n") == "     1→[CREDENTIAL_1]\n"
    assert shown(asked, f"     1→{secret}\n     2→") == "     1→[CREDENTIAL_1]\n     2→"
    notes = json.dumps({"file_path": "/home/dev/app/notes"})
    assert shown(notes, f"     1→{secret}\n") == f"     1→{secret}\n"
    windows = {"file_path": "C:\\Users\\dev\\.vault_pass"}
    assert shown(windows, f"     1→{secret}\n") == "     1→[CREDENTIAL_1]\n"


def test_all_members_of_a_secret_of_kubernetes_are_secret() -> None:
    one, two = (base64.b64encode(some(9).encode()).decode() for _ in range(2))
    asked = "kubectl get secret db -o jsonpath='{.data}'"
    assert (
        shown(asked, f'{{"a":"{one}","b":"{two}"}}')
        == '{"a":"[CREDENTIAL_1]","b":"[CREDENTIAL_2]"}'
    )
    assert shown(asked, f"map[a:{one} b:{two}]") == "map[a:[CREDENTIAL_1] b:[CREDENTIAL_2]]"


@pytest.mark.parametrize("indent", [None, 2, 4])
def test_a_secret_of_kubernetes_is_read_in_json_however_it_is_laid_out(indent: int | None) -> None:
    one, two = (base64.b64encode(some(9).encode()).decode() for _ in range(2))
    told = {"data": {"a": one, "b": two}, "kind": "Secret", "metadata": {"name": "db"}}
    for value in (told, {"items": [told, told], "kind": "List"}):
        text = json.dumps(value, indent=indent)
        masked = mask(text)
        assert one not in masked
        assert two not in masked
        assert json.loads(masked)
        assert masked.count('"metadata"') == text.count('"metadata"')


def test_a_secret_of_kubernetes_in_plain_text_is_masked_under_any_name() -> None:
    secret = password()
    text = f"kind: Secret\nmetadata:\n  name: db\nstringData:\n  BOOT: {secret}\n  user: app\n"
    assert mask(text) == text.replace(secret, "[CREDENTIAL_1]")


# dumps


def xxd(data: bytes) -> str:
    lines = (data[at : at + 16] for at in range(0, len(data), 16))
    return "".join(
        f"{at * 16:08x}: {line.hex(' ', -2):<39}  {printable(line)}\n"
        for at, line in enumerate(lines)
    )


def canonical(data: bytes) -> str:
    lines = [data[at : at + 16] for at in range(0, len(data), 16)]
    return "".join(
        f"{at * 16:08x}  {line[:8].hex(' '):<23}  {line[8:].hex(' '):<23}  |{printable(line)}|\n"
        for at, line in enumerate(lines)
    )


def octal(data: bytes) -> str:
    lines = [data[at : at + 16] for at in range(0, len(data), 16)]
    return "".join(
        f"{at * 16:07o} {' '.join(f'{shown_sign(c):>3}' for c in line)}\n"
        for at, line in enumerate(lines)
    )


def bytewise(data: bytes) -> str:
    lines = [data[at : at + 16] for at in range(0, len(data), 16)]
    return "".join(f"{at * 16:07o} {line.hex(' ')}\n" for at, line in enumerate(lines))


def wordwise(data: bytes) -> str:
    swapped = bytes(data[at ^ 1] for at in range(len(data) & ~1))
    lines = [swapped[at : at + 16] for at in range(0, len(swapped), 16)]
    return "".join(f"{at * 16:07x} {line.hex(' ', 2)}\n" for at, line in enumerate(lines))


def printable(line: bytes) -> str:
    return "".join(chr(c) if 32 <= c < 127 else "." for c in line)


def shown_sign(c: int) -> str:
    return {10: "\\n", 9: "\\t", 0: "\\0"}.get(c, chr(c) if 32 <= c < 127 else f"{c:03o}")


DUMPS: dict[str, Callable[[bytes], str]] = {
    "xxd": xxd,
    "hexdump -C": canonical,
    "od -c": octal,
    "od -t x1": bytewise,
    "hexdump": wordwise,
}


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS)
@pytest.mark.parametrize("before", ["", "# the settings of the shop\n" * 9])
def test_a_dump_is_read_as_the_bytes_that_it_shows(
    dump: Callable[[bytes], str], before: str
) -> None:
    secret = some(40)
    text = dump(f"{before}DB_HOST=localhost\nAPI_TOKEN={secret}\nDEBUG=1\n".encode())
    masked = mask(text)
    left = dump(f"{before}DB_HOST=localhost\nAPI_TOKEN={' ' * 40}\nDEBUG=1\n".encode())
    for part in (secret[at : at + 4] for at in range(0, 36, 4)):
        assert part not in masked
        assert part.encode().hex() not in masked.replace(" ", "")
        assert "  ".join(f" {c}" for c in part) not in masked
    assert masked.split("\n")[0].count("[CREDENTIAL_1]") == (0 if before else 1) or before == ""
    assert mask(left) is left
    assert json.loads(mask(json.dumps({"output": text})))["output"] == masked


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS)
def test_the_end_of_a_dump_is_read_too(dump: Callable[[bytes], str]) -> None:
    secret = some(40)
    whole = dump(f"{'# settings ' * 31}\nAPI_TOKEN={secret}\nDEBUG=1\n".encode())
    masked = mask("\n".join(whole.split("\n")[20:]))
    for part in (secret[at : at + 4] for at in range(8, 36, 4)):
        assert part not in masked
        assert part.encode().hex() not in masked.replace(" ", "")


def test_a_value_known_from_elsewhere_is_masked_in_a_dump() -> None:
    secret = some(24)
    masker = Masker()
    masker.learn(f"DB_PASSWORD={secret}")
    masker.seal()
    masked = masker.mask(xxd(f"say {secret} aloud".encode()))
    assert masked.startswith("00000000: 7361 7920 [CREDENTIAL_1]  say [CREDENTIAL_1]\n")
    assert printable(secret.encode())[-4:] not in masked


def test_what_only_looks_like_a_dump_stays() -> None:
    for text in (
        "0000000 commits\n0000001 more\n",
        "00000000: ok\n",
        "000000001234 5678\n",
        xxd(bytes(random.Random(3).randbytes(400))),
    ):
        assert mask(text) is text


# what is sealed, piped, or stands in an address


@pytest.mark.parametrize("indent", ["", "          "])
@pytest.mark.parametrize("margin", ["", "{:>6}\t"])
def test_the_body_of_a_sealed_vault_is_masked(indent: str, margin: str) -> None:
    body = [some(80, HEX) for _ in range(3)] + [some(42, HEX)]
    lines = ["db_password: !vault |", f"{indent}$ANSIBLE_VAULT;1.1;AES256"]
    lines += [f"{indent}{line}" for line in body] + ["other: value"]
    text = "\n".join(margin.format(n) + line for n, line in enumerate(lines, 1))
    masked = mask(text)
    assert not any(line in masked for line in body)
    assert "$ANSIBLE_VAULT;1.1;AES256" in masked
    assert masked.endswith("other: value")


@pytest.mark.parametrize(
    "text",
    [
        "sudo -S ls <<EOF\n{}\nEOF",
        "docker login -u a --password-stdin <<'EOF'\n{}\nEOF",
        "yes '{}' | passwd ops",
        "echo '{}' | su - root -c ls",
    ],
)
def test_a_password_fed_to_a_command_is_masked(text: str) -> None:
    secret = password()
    assert mask(text.format(secret)) == text.format("[CREDENTIAL_1]")


def test_a_token_before_an_empty_password_is_masked() -> None:
    secret = some(32)
    text = f"https://{secret}:@git.shop.example/a/b.git"
    assert mask(text) == "https://[CREDENTIAL_1]:@git.shop.example/a/b.git"


# whole logs


def a_log(path: Path, tool: str, sent: object, output: str) -> Path:
    """A session of Claude Code's with one call."""
    shared = {
        "sessionId": "f5476776-e43b-4d36-b10d-5bbaca6a6a56",
        "version": "2.1.58",
        "cwd": "/srv",
    }
    uuids = [f"{n:08x}-e43b-4d36-b10d-5bbaca6a6a56" for n in range(3)]
    call = "toolu_01" + "A" * 22
    rows = [
        ("user", "Have a look"),
        ("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": sent}]),
        ("user", [{"type": "tool_result", "tool_use_id": call, "content": output}]),
    ]
    lines = [
        {
            **shared,
            "type": role,
            "uuid": uuids[at],
            "parentUuid": uuids[at - 1] if at else None,
            "timestamp": f"2026-02-26T09:12:0{at}.041Z",
            "message": {"role": role, "content": content, "id": f"msg_01{'B' * 22}"},
        }
        for at, (role, content) in enumerate(rows)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def told(log: Path) -> list[str]:
    """All that is said of a log, as a trace, as events and redacted."""
    where = log.with_suffix(".trace")
    assert run("claude-code", log, "-o", where).exit_code == 0
    said = [(where / "trace.json").read_text(), run("events", "auto", log).stdout]
    return [*said, run("redact", log).stdout]


def test_no_command_shows_what_a_command_printed(tmp_path: Path) -> None:
    secret = some(32)
    log = a_log(tmp_path / "s.jsonl", "Bash", {"command": "gh auth token"}, f"{secret}\n")
    assert run("claude-code", log, "-o", tmp_path / "trace").exit_code == 0
    for file in (tmp_path / "trace").rglob("*"):
        assert file.is_dir() or secret.encode() not in file.read_bytes()
    asked = ("show", tmp_path / "trace", "--step", 2, "--why", "output", "--source", log)
    for words in (("events", "auto", log), ("redact", log), asked):
        said = run(*words).stdout
        assert secret not in said
        assert "[CREDENTIAL_1]" in said
    assert run("scan", log).exit_code == 1


@pytest.mark.parametrize(
    "sent",
    [
        {"env": [{"name": "DB_PASSWORD", "value": "{}"}]},
        {"argv": ["mysql", "-u", "root", "-p{}", "-e", "select 1"]},
        {"argv": ["sshpass", "-p", "{}", "ssh", "h"]},
        {"jwk": {"kty": "oct", "k": "{}"}},
        {"element": "Password field", "text": "{}"},
        {"headers": {"Authorization": "Bearer {}"}},
        {"file_path": "/srv/.vault_pass", "content": "{}"},
    ],
)
def test_the_arguments_of_an_event_are_masked_as_a_trace_has_them(
    tmp_path: Path, sent: object
) -> None:
    secret = some(32)
    filled = json.loads(json.dumps(sent).replace("{}", secret))
    log = a_log(tmp_path / "s.jsonl", "mcp__x__do", filled, "ok")
    said = run("events", "claude-code", log).stdout
    (call,) = [json.loads(row) for row in said.splitlines() if '"ToolCall"' in row]
    assert call["input"] == json.loads(json.dumps(sent).replace("{}", "[CREDENTIAL_1]"))
    run("claude-code", log, "-o", tmp_path / "trace")
    step = json.loads((tmp_path / "trace" / "trace.json").read_text())["steps"][1]
    assert json.loads(step["input"]) == call["input"]


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["pass show ", "echo $A_KEY ", "cat a/", "select a ", "jq .a."])
@pytest.mark.parametrize("output", ["aB3dE6gH9\n", '{"a":"aB3dE6gH9"}', " a:aB3d", "     1→a\n"])
def test_what_was_asked_and_printed_is_judged_in_step_with_its_length(
    asked: str, output: str
) -> None:
    start = time.process_time()
    printed.spans(printed.fired(asked * 20_000), (output * 20_000).encode())
    assert time.process_time() - start < 3  # each command held against each line takes a minute


def test_what_runs_on_is_judged_by_the_command_that_began_it(tmp_path: Path) -> None:
    secret = some(32)
    log = a_log(tmp_path / "s.jsonl", "Bash", {"command": "gh auth token"}, "Running with ID: b1")
    call, begun = "toolu_01" + "C" * 22, [json.loads(line) for line in log.read_text().splitlines()]
    begun[1]["message"]["content"][0]["input"]["run_in_background"] = True
    begun[2]["toolUseResult"] = {"stdout": "", "stderr": "", "backgroundTaskId": "b1"}
    told = f"<status>completed</status>\n<stdout>\n{secret}\n</stdout>"
    asked = {"type": "tool_use", "id": call, "name": "BashOutput", "input": {"bash_id": "b1"}}
    came = {"type": "tool_result", "tool_use_id": call, "content": told}
    for number, (role, content) in enumerate((("assistant", asked), ("user", came)), 3):
        row = {**begun[-1], "type": role, "uuid": f"{number:08x}-e43b-4d36-b10d-5bbaca6a6a56"}
        row |= {"parentUuid": begun[-1]["uuid"], "timestamp": f"2026-02-26T09:13:0{number}.041Z"}
        row |= {"message": {"role": role, "content": [content], "id": f"msg_01{'D' * 22}"}}
        ended = {"shellId": "b1", "status": "completed", "exitCode": 0, "stdout": secret}
        row = {key: value for key, value in row.items() if key != "toolUseResult"}
        row |= {"toolUseResult": ended} if role == "user" else {}
        begun.append(row)
    log.write_text("".join(json.dumps(row) + "\n" for row in begun))
    assert run("claude-code", log, "-o", tmp_path / "trace").exit_code == 0
    for file in (tmp_path / "trace").rglob("*"):
        assert file.is_dir() or secret.encode() not in file.read_bytes()
    assert secret not in run("events", "auto", log).stdout


@pytest.mark.parametrize(
    "sent",
    [
        {"input": "*** Begin Patch\n*** Add File: .vault_pass\n+{}\n*** End Patch"},
        {"file_path": "/srv/.vault_pass", "edits": [{"old_string": "x", "new_string": "{}"}]},
        {"path": "C:\\srv\\token.txt", "file_text": "{}\n"},
    ],
)
def test_what_is_put_into_a_file_of_secrets_is_secret(tmp_path: Path, sent: object) -> None:
    secret = some(32)
    filled = json.loads(json.dumps(sent).replace("{}", secret))
    log = a_log(tmp_path / "s.jsonl", "mcp__x__do", filled, "ok")
    assert not any(secret in text for text in told(log))


def test_arguments_however_deep_stop_nothing(tmp_path: Path) -> None:
    deep: object = "gh auth token"
    for _ in range(400):
        deep = [deep]
    log = a_log(tmp_path / "s.jsonl", "mcp__x__do", {"a": deep}, "ok")
    for words in (("claude-code", log, "-o", tmp_path / "trace"), ("redact", log)):
        assert run(*words).exit_code == 0


def many_calls(path: Path, *calls: tuple[str, str]) -> Path:
    """A session of Claude Code's with these lines, each with what it printed."""
    rows: list[dict[str, object]] = []
    log = a_log(path, "Bash", {"command": "true"}, "")
    first, *_ = map(json.loads, log.read_text().splitlines())
    rows.append(first)
    for number, (command, output) in enumerate(calls, 1):
        call = f"toolu_01{number:022d}"
        for role, content in (
            (
                "assistant",
                {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}},
            ),
            ("user", {"type": "tool_result", "tool_use_id": call, "content": output}),
        ):
            at = len(rows)
            message = {"role": role, "content": [content], "id": f"msg_01{at:022d}"}
            row = {**first, "type": role, "message": message, "parentUuid": rows[-1]["uuid"]}
            row |= {"uuid": f"{at:08x}-e43b-4d36-b10d-5bbaca6a6a56"}
            rows.append(row | {"timestamp": f"2026-02-26T09:{at:02d}:04.041Z"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_secret_is_known_behind_the_file_that_kept_it(tmp_path: Path) -> None:
    secret, commit = some(32), some(40, HEX)
    log = many_calls(
        tmp_path / "s.jsonl",
        ("gh auth token > /tmp/t1", ""),
        ("rm -f /tmp/t2 && git rev-parse HEAD", f"{commit}\n"),
        ("cat /tmp/t1", f"{secret}\n"),
        ("ls -l /tmp/t1; git rev-parse HEAD", f"{commit}\n"),
    )
    said = told(log)
    assert not any(secret in text for text in said)
    assert all(commit in text for text in said)


@pytest.mark.parametrize(
    "line",
    [
        "cat > .vault_pass <<'EOF'\n{}\nEOF",
        "printf '%s' '{}' > password.txt",
        "tee token.txt <<< {}",
    ],
)
def test_what_a_line_pours_into_a_file_of_secrets_is_secret(tmp_path: Path, line: str) -> None:
    secret = some(32)
    log = many_calls(tmp_path / "s.jsonl", (line.format(secret), ""))
    assert not any(secret in text for text in told(log))


def test_ids_of_a_log_pass_by_their_shape_and_by_no_name() -> None:
    shaped = {
        "uuid": "0a1b2c3d-e43b-4d36-b10d-5bbaca6a6a56",
        "tool_use_id": "toolu_01" + "A" * 22,
        "timestamp": "2026-02-26T09:12:03.041Z",
        "signature": "EqoB" + "aB3d" * 30,
    }
    assert leaves(shaped, ours=False) == []
    odd = dict.fromkeys(shaped, f"DB_PASSWORD={password()}")
    assert [text for text, _ in leaves(odd, ours=False)] == list(odd.values())
    armour = base64.b64encode(b"-----BEGIN PRIVATE KEY-----" + some(90).encode()).decode()
    assert leaves({"signature": armour}, ours=False) == [(armour, "signature")]


@pytest.mark.parametrize("command", ["gh auth token | head -c4; jq . b.json", "jq .auth b.json"])
def test_an_object_stays_an_object(command: str) -> None:
    output = json.dumps({"name": "shop", "id": COMMIT[:24], "commit": COMMIT}, indent=2)
    assert shown(command, output) is output
    short = '[\n  "a",\n  "b"\n]'
    assert shown("gh auth token", short) is short


def test_a_quote_at_the_end_of_a_value_is_its_own() -> None:
    asked = "kubectl get secret a -o jsonpath='{.data}'"
    masked = shown(asked, json.dumps({"a": 'abcd1234"', "b": some(20)}))
    assert json.loads(masked) == {"a": "[CREDENTIAL_1]", "b": "[CREDENTIAL_2]"}


@pytest.mark.parametrize("sign", ["|", "<", "'", "[", "{"])
def test_a_word_of_a_keeper_is_secret_with_any_sign_in_it(sign: str) -> None:
    secret = f"{sign}tiger7{sign}Lake42"
    assert secret not in shown("pass show db", secret)


@pytest.mark.slow
@pytest.mark.parametrize("run", [">a", ">", "x=>y(z),", ">abcdefghij=", '":"', "<a>b", " a:aB3d"])
def test_an_output_is_read_in_step_with_its_length(run: str) -> None:
    printing = printed.fired("gh auth token; kubectl get secret a -o jsonpath='{.data}'")
    began = time.process_time()
    printed.spans(printing, run.encode() * ((1 << 18) // len(run)))
    assert time.process_time() - began < 2


@pytest.mark.parametrize("tool", ["LS", "list_directory", "Glob", "search_files"])
def test_what_a_tool_lists_is_no_file_that_it_shows(tmp_path: Path, tool: str) -> None:
    log = a_log(tmp_path / "s.jsonl", tool, {"path": "/srv/app/secrets"}, "Auth2Service")
    assert not any("CREDENTIAL" in text for text in told(log))


@pytest.mark.parametrize(
    "line",
    [
        "gh auth token > t1 && cat t1",
        "gh auth token | tee t1 > /dev/null; cat t1",
        'gh auth token > "$HOME/.t1"; sed -n 1p ~/.t1',
    ],
)
def test_a_file_that_a_line_writes_is_known_in_that_line(tmp_path: Path, line: str) -> None:
    secret = some(32)
    log = a_log(tmp_path / "s.jsonl", "Bash", {"command": line}, secret)
    assert not any(secret in text for text in told(log))


@pytest.mark.parametrize(
    "then", [[("cat src/s.txt", COMMIT)], [("git rev-parse HEAD > s", ""), ("cat s", COMMIT)]]
)
def test_a_file_is_known_by_its_name_until_another_text_takes_its_place(
    tmp_path: Path, then: list[tuple[str, str]]
) -> None:
    calls = [("openssl rand -hex 32 > s", ""), *then]
    assert all(COMMIT in text for text in told(many_calls(tmp_path / "s.jsonl", *calls)))


@pytest.mark.parametrize("line", ["pass show db", "cat token.txt", "jq -r .token a.json"])
def test_what_was_redacted_is_redacted_once(tmp_path: Path, line: str) -> None:
    log = a_log(tmp_path / "s.jsonl", "Bash", {"command": line}, some(32))
    once, twice = tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    once.write_text(run("redact", log).stdout)
    twice.write_text(run("redact", once).stdout)
    assert "[CREDENTIAL_1]" in once.read_text()
    assert twice.read_text() == once.read_text()
    assert run("scan", once).exit_code == 0


def test_what_is_no_secret_of_a_file_says_nothing_of_another_command() -> None:
    secret = some(32)
    assert secret not in shown("echo $API_KEY; cat tool/token", f"{secret}\nbuild/\n")


def test_a_dump_of_something_else_stays() -> None:
    output = "missing\n" + xxd(bytes(range(0x80, 0x90)))
    assert shown("cat token.txt; xxd img.png | head -1", output) is output


@pytest.mark.slow
@pytest.mark.parametrize("literal", ["jsonpath", "env[", "grep -", "-o tsv ", "process.env."])
def test_a_line_is_taken_apart_in_step_with_its_length(literal: str) -> None:
    began = time.process_time()
    printed.fired("kubectl get secrets " + literal * (16_000 // len(literal)))
    assert time.process_time() - began < 1


@pytest.mark.slow
def test_a_line_that_prints_many_kept_files_is_judged_once(tmp_path: Path) -> None:
    written = [(f"gh auth token > out{n}.txt", "") for n in range(50)]
    shows = "cat " + " ".join(f"out{n}.txt" for n in range(50))
    log = many_calls(tmp_path / "s.jsonl", *written, (shows, "some words of a page\n" * 12_000))
    began = time.process_time()
    assert run("redact", log).exit_code == 0
    assert time.process_time() - began < 6


KEYPAIR = f"[{','.join(str(7 * at % 256) for at in range(64))}]"


@pytest.mark.parametrize(
    ("asked", "is_masked"),
    [
        ("cat ~/.config/solana/id.json", True),
        ("cat target/deploy/till-keypair.json", True),
        (r"Get-Content C:\dev\till-keypair.json", True),
        ("cat colours.json", False),
        ("cat ~/.config/solana/id.json.pub", False),
    ],
)
def test_a_key_pair_that_a_file_keeps_as_its_bytes(asked: str, is_masked: bool) -> None:
    found = printed.spans(printed.fired(asked), KEYPAIR.encode(), asked)
    assert bool(found) is is_masked
