"""Who is known as a person, by what stands around the name; and which accounts are nobody's."""

import pytest

from forsy_retrace.redaction import mask

FIRST, LAST = "Mirthe", "Klaverdijk"
WHO = f"{FIRST} {LAST}"
MAIL = f"m.{LAST.lower()}@klaverwerk.nl"

NAMED = [
    '{"created_by": "%s"}',
    '{"createdBy":"%s","at":4}',
    '{"last_modified_by":"%s"}',
    '{"author":{"id":"45a0b2c","name":"%s"},"at":4}',
    '{"author": {"id": 45, "state": "open", "name": "%s"}}',
    'commit 1a2b\nAuthor: %s <[EMAIL_1]>\nDate: today',
    'commit 1a2b\nAuthor: %s <[REDACTED_EMAIL]>\nDate: today',
    '"reviewers":["%s","Some One"]',
    '"assignees" = ["Some One", "%s"]',
]  # fmt: skip
WITH_MAIL = [
    "User(name='%s', email='{mail}')",
    "{{'name': '%s', 'email': '{mail}'}}",
    "{{ name: '%s', email: '{mail}' }}",
    "['name' => '%s', 'email' => '{mail}']",
    '{{"name":"%s","id":4,"email":"{mail}"}}',
    '{{"email":"{mail}","id":4,"name":"%s"}}',
    'name = "%s"\nemail = "{mail}"\n',
    '     2→ {{\n     3→ "name": "%s",\n     4→ "email": "{mail}"\n',
    '     5→  "author": {{\n     6→    "name": "%s <{mail}>"\n',
    "INSERT INTO users (id, name, email) VALUES (1,'%s','{mail}'), (2,NULL,NULL);",
    "COPY public.users (id, name, email) FROM stdin;\n1\t%s\t{mail}\n\\.\n",
]


@pytest.mark.parametrize("way", [*NAMED, *(way.format(mail=MAIL) for way in WITH_MAIL)])
def test_a_person_is_known_by_the_key_or_the_mail_beside_the_name(way: str) -> None:
    shown = mask(way % WHO)
    assert LAST not in shown
    assert FIRST not in shown
    assert shown.count("[PERSON_") + shown.count("[USER_") >= 1


@pytest.mark.parametrize(
    "text",
    [
        '{"created_by": "cart-service"}',
        '{"createdBy": "GitHub Actions"}',
        'name = "Cart Service"\nversion = "1"\n',
        '{"name":"Cart Service","id":4,"url":"/cart"}',
        "INSERT INTO shelves (id, name) VALUES (1,'Oak Shelf');",
        "INSERT INTO orders (name, total) VALUES ('Oak Shelf', 4) -- the email goes out later",
        '"reviewers": ["cart-team", "bot"]',
        '"created_by": "Nightly Sync"',
        '"participants": ["Web Browser", "Load Balancer"]',
        "INSERT INTO shelves (name, phone, email) VALUES ('Oak Shelf', NULL, NULL);",
        "/gpfs/home/software/bin and /scratch/home/modules/x",
        '"participants": 4',
    ],
)
def test_what_is_called_so_is_no_person(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize("account", ["bun", "sprite", "pwuser", "airflow", "nixos", "swe-agent"])
def test_the_account_of_an_image_is_nobodys(account: str) -> None:
    text = f"cwd: /home/{account}/app\n$ {account} run test\n"
    assert mask(text) == text


@pytest.mark.parametrize(
    "home",
    [
        *("/cluster/home", "/gpfs/home", "/lustre/home", "/storage/home", "/home1"),
        "vscode-remote://ssh-remote+box/home",
    ],
)
def test_homes_lie_in_other_places_too(home: str) -> None:
    assert LAST.lower() not in mask(f"cd {home}/{LAST.lower()}/shop")


def test_a_folder_within_another_is_no_home() -> None:
    text = "src/home/banner/index.ts and pages/home1/banner.ts"
    assert mask(text) == text
