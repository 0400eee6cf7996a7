"""Accounts: home directories, prompts, owners of files and processes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import names, rules, shape
from forsy_retrace.redaction.names import HOST, PERSON, USER, is_somebody

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

ACCOUNT = later(rb"[A-Za-z0-9_\x80-\xff][A-Za-z0-9._@+\x80-\xff-]{1,62}")
ACCOUNT_WITH_SPACE = later(
    rb"[A-Za-z0-9_\x80-\xff][A-Za-z0-9._+\x80-\xff-]{1,40}"
    rb"(?: [A-Z\x80-\xff][A-Za-z\x80-\xff]{1,20})?"
)
CLAUDE_DIRECTORY = later(rb"([A-Za-z0-9_]{2,40})-")
OTHER_ROOT = later(rb"(?:-mnt-[a-z]|--wsl(?:-localhost)?-[A-Za-z0-9.-]{2,30})$")
"""What WSL puts before a folder of homes, as Claude Code writes a path into a name."""
DOUBLED = later(rb"\\\\[A-Za-z]{4,5}\\(?!\\)")
GECOS = later(rb":[0-9]{1,10}:[0-9]{1,10}:([^:,\n]{3,60})[^:\n]{0,80}$")
REMOTE_ROOT = later(rb"\b(?:ssh-remote|dev-container|wsl)(?:\+|%2b)[\w.-]{1,40}$")
"""What an editor writes before a folder of another machine."""
INSIDE = later(rb"[^/][a-z0-9]/")
"""What stands before and at a folder of homes that is a part of another path, not of a drive's."""
PROMPT = later(
    rb"@([A-Za-z0-9][A-Za-z0-9.-]{0,62})(?::[ ]?[~/][^\s$#%]{0,200}[ ]?[$#]"
    rb"|[ ][^\s$#%]{1,100}[ ]?[%$#](?:[ \n]|$)|[ ]~(?:/[^\s$#%]{0,100})?(?:\s|$)|\][$#])"
)
REMOTE = later(rb"\b(?:ssh-copy-id|(?:ssh|scp|sftp|rsync|mosh)(?![\w-]))[^\n|;&]{0,200}$")
AT_HOST = later(rb"@([A-Za-z0-9][A-Za-z0-9.-]{0,120})")
OWNER = later(
    rb"[dlbcps-]?[r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-][.@+]?[ ]{1,8}\d{1,6}[ ]{1,8}"
    rb"([A-Za-z_][\w.+-]{1,40})[ ]{1,20}([A-Za-z_][\w.+ -]{0,40}?)[ ]{1,20}\d"
)
PROCESS = later(
    rb"([a-z_][a-z0-9_.-]{2,31})\+?[ ]{1,20}\d{1,8}[ ]{1,8}\d{1,3}\.\d[ ]{1,8}\d{1,3}\.\d[ ]"
)
WHOAMI = later(
    rb"[ \t]{0,4}\r?\n(?:[\w-]{1,30}\\)?([A-Za-z_][A-Za-z0-9_.-]{2,31})[ \t]{0,4}(?:\r?\n|$)"
)
SYSTEM_USER = later(rb"[^\n(]{2,60} \(([A-Za-z_][\w.-]{1,31})\)[ \t\r]{0,4}(?:\n|$)")
WITH_SID = later(rb"(?:^|[\s\"'])[\w.-]{1,30}\\{1,2}([A-Za-z_][\w.-]{1,40})[ ]{0,20}$")
CLAIMED = later(
    rb"\\{0,3}[\"'][ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']([A-Za-z_][\w.-]{2,40})\\{0,3}[\"']"
)
UID = later(rb"\d{1,10}\(([A-Za-z_][\w.-]{1,40})\)")
LOGNAME = later(rb"[\"']?([A-Za-z_][\w.-]{2,31})[\"']?(?:[ \t;]{0,4}(?:\r?\n|$)|[ ;])")
SUDO = later(rb"([a-z_][\w.-]{1,31}): ?")
ASKS = later(rb"(?:^|[\r\n\"'>]|\[sudo\] )$")
"""What stands before a prompt for a password; a sentence that asks for one goes on before it."""
STAT = later(rb"[ ]{0,6}[0-9]{1,10}/[ ]{0,12}([A-Za-z_][\w.-]{1,40})\)")
PASSWD = later(rb"(?:^|\n)([a-z_][\w.-]{1,31})$")
KALI = later(rb"\(([a-z_][\w.-]{1,31})$")
# What the clients of code hosts say of who is logged in, and ask.
LOGGED_IN_TO = later(rb"[\w.-]{3,60} (?:account|as) ([A-Za-z0-9][\w-]{1,38})[ \n]")
GREETED = later(rb"\bHi ([A-Za-z0-9][\w-]{1,38})$")
WELCOMED = later(rb"([A-Za-z0-9][\w.-]{1,60})!")
GH_HOSTS = later(rb"\n[ ]{1,12}user: ([A-Za-z0-9][\w-]{1,38})\r?\n[ ]{1,12}$")
ASKED = later(rb"https?://[^'\s]{1,120}': ([\w.-]{2,60})(?:\s|$)")
SUDO_LOG = later(rb"\bsudo(?:\[[0-9]{1,10}\])?:[ ]{1,12}([a-z_][\w.-]{1,31}) : $")
TERMINAL = later(
    rb"(?:^|\n)([a-z_][\w.-]{1,31})[ ]{1,20}(?:[0-9]{1,8}[ ]{1,8}(?:[0-9.]{1,8}[ ]{1,8}){0,6})?$"
)
LOGGED_IN = later(rb"([a-z_][\w.-]{1,31}) from [0-9A-Fa-f.:]{3,45} port [0-9]")
SESSION_OF = later(rb"([a-z_][\w.-]{1,31})(?:\(uid=[0-9]{1,10}\))?(?: by |\s{0,2}(?:\n|$))")
SSH_USER = later(rb"[ \t]{0,4}([A-Za-z_][\w.-]{1,31})[ \t\r]{0,4}(?:\n|$)")
SSH_HOST = later(rb"(?:^|\n)Host [^\n]{1,120}\n")
SETS_CONFIG = later(rb"(?:\bconfig(?: {1,4}--?[a-z-]{1,20}){0,3}| -c) {1,4}[\"']?$")
CONFIGURED = later(
    rb"[ =]{1,3}[\"']?([A-Za-z_][\w.-]{2,31})[\"']?(?:[ \t]{0,4}(?:[\r\n;&|]|$)|[ ][a-z-])"
)
ASKS_CONFIG = later(
    rb"(?:^|\n)[^\n]{0,60}[$%>#\xaf] git config(?: {1,4}--?[a-z-]{1,20}){0,3} {1,4}$"
)


def rows() -> Iterator[tuple[bytes, Rule]]:
    for home in rules.words("accounts", "homes"):
        yield home, _home
        yield b":" + home, _full_name
    yield b"-users-", _claude_directory
    yield b"-home-", _claude_directory
    for rights in rules.words("accounts", "rights"):
        yield rights, _owner
    yield b" 0.0 ", _process
    yield b"whoami", partial(_account, WHOAMI, "whoami")
    for command in (b"echo $user", b"id -un"):
        yield command, partial(_account, WHOAMI, "whoami")
    yield b"user name: ", partial(_account, SYSTEM_USER, "system-user")
    yield b" s-1-5-21-", partial(_before, WITH_SID, "account-with-sid")
    yield b"\nsamaccountname: ", partial(_account, LOGNAME, "directory-account")
    yield b"preferred_username", partial(_account, CLAIMED, "claimed-account")
    for word in (b"uid: (", b"gid: ("):
        yield word, partial(_account, STAT, "stat")
    for uid in range(1000, 1010):
        yield b":x:%d:" % uid, partial(_before, PASSWD, "passwd-account")
    yield "㉿".encode(), partial(_before, KALI, "prompt")
    yield b"logged in to ", partial(_account, LOGGED_IN_TO, "logged-in")
    yield b"! you've successfully authenticated", partial(_before, GREETED, "logged-in")
    yield b"welcome to gitlab, @", partial(_account, WELCOMED, "logged-in")
    yield b"username for '", partial(_account, ASKED, "logged-in")
    yield b"oauth_token: ", partial(_before, GH_HOSTS, "logged-in")
    yield b"sudo_user=", partial(_account, LOGNAME, "user-variable")
    yield b"uid=", partial(_account, UID, "uid")
    yield b"logname=", partial(_account, LOGNAME, "logname")
    yield b"user=", _user_variable
    yield b"password for ", _prompted
    for words in (b"password for ", b"publickey for ", b"keyboard-interactive/pam for "):
        yield words, partial(_account, LOGGED_IN, "login")
    for words in (b"session opened for user ", b"session closed for user "):
        yield words, partial(_account, SESSION_OF, "login")
    yield b"tty=", partial(_before, SUDO_LOG, "sudo-log")
    yield b"pts/", partial(_before, TERMINAL, "terminal")
    yield b"user.name", _configured
    yield b" user ", _of_ssh


def _home(scan: Scan, start: int, end: int) -> None:
    data, literal = scan.data, scan.low[start:end]
    if b"users" in literal:
        is_drive = data[max(0, start - 1) : start] == b":"
        if data[start:end].find(b"Users") < 0 and b"\\" not in literal and not is_drive:
            return
    elif (
        literal == b"settings\\" and scan.low[max(0, start - 14) : start] != b"documents and "
    ) or (
        start
        and (data[start - 1] in shape.ALNUM or data[start - 1] in b"}>)]_*")
        and not _is_root(scan, start)
    ):
        return
    if DOUBLED.match(data, start - 1) and names.ESCAPE.match(data, end):
        return  # in JSON a backslash stands twice, and a single one begins an escape
    match = (ACCOUNT_WITH_SPACE if b"\\" in literal else ACCOUNT).match(data, end)
    if match is None:
        return
    name = _of_one_script(match[0])
    if b" " in name and data[match.end() : match.end() + 1] != b"\\":
        name = name.partition(b" ")[0]
    stop = end + len(name.rstrip(b".,-@+"))
    if data[stop : stop + 1] in (b"(", b"*", b"=") or (
        b"/" in literal and data[stop : stop + 1] == b":" and data[stop + 1 : stop + 2] == b":"
    ):
        return
    name = data[end:stop]
    at_home = name[:1].isdigit() and (
        _is_root(scan, start) or not INSIDE.match(scan.low, max(0, start - 2))
    )
    if is_somebody(name, at_home=at_home) and (
        b"." not in name or name.rpartition(b".")[2] not in rules.words("accounts", "files")
    ):
        scan.add(end, stop, "home", USER)


def _of_one_script(name: bytes) -> bytes:
    """A name up to a sign, or to a sentence in another script that follows it without a blank."""
    if name.isascii():
        return name
    text = name.decode("utf-8", "ignore")
    is_far = text[:1] >= FAR
    for at, letter in enumerate(text):
        if letter >= "\x80" and (
            unicodedata.category(letter)[0] not in "LM" or (letter >= FAR and not is_far)
        ):
            return text[:at].encode()
    return text.encode()


FAR = "\u2e80"
"""From here on stand the scripts that put no blank between words."""


def _is_root(scan: Scan, start: int) -> bool:
    """The folder before /home/ is one that holds homes."""
    before = scan.low[max(0, start - 60) : start]
    is_root = before.endswith(tuple(rules.words("accounts", "roots")))
    return is_root or REMOTE_ROOT.search(before) is not None


def _claude_directory(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    before = data[max(0, start - 50) : start]
    if data[start:end] not in (b"-Users-", b"-home-") or (
        before[-1:].isalnum() and not OTHER_ROOT.search(before)
    ):
        return
    match = CLAUDE_DIRECTORY.match(data, end)
    if match and is_somebody(match[1], at_home=True):
        scan.add(end, match.end(1), "claude-directory", USER)


def account_at_host(scan: Scan, begin: int, at: int) -> bool:
    """Adds the account of a prompt, or of a command that goes to another host; False if none."""
    data = scan.data
    name = data[begin:at]
    prompt = PROMPT.match(data, at)
    if prompt is None:
        line = data.rfind(b"\n", max(0, begin - 200), begin) + 1
        remote = AT_HOST.match(data, at)
        if remote is None or not REMOTE.search(data, max(line, begin - 200), begin):
            return False
        prompt = remote
    is_known = ACCOUNT.fullmatch(name) is not None and is_somebody(name)
    host = prompt[1].rstrip(b".")
    low = host.lower()
    is_public = low in names.common() or names.public()[0].search(low)
    if not is_known and (name.lower() not in names.nobody() or names.CONTAINER.fullmatch(low)):
        return False
    if is_known:
        scan.add(begin, at, "prompt", USER)
    if b"." not in host and len(host) >= 3 and not is_public:
        scan.add(prompt.start(1), prompt.start(1) + len(host), "prompt-host", HOST)
    return True


def _owner(scan: Scan, start: int, end: int) -> None:
    match = OWNER.match(scan.data, start)
    if match:
        for group in (1, 2):
            if is_somebody(match[group]) and b" " not in match[group]:
                scan.add(*match.span(group), "owner", USER)


def _full_name(scan: Scan, start: int, end: int) -> None:
    """The person behind an account, in a line of /etc/passwd."""
    data = scan.data
    match = GECOS.search(data, max(0, start - 180), start)
    if match and b" " in match[1].strip() and is_somebody(match[1].strip()):
        scan.add(*match.span(1), "passwd", PERSON)


def _process(scan: Scan, start: int, end: int) -> None:
    line = scan.data.rfind(b"\n", max(0, start - 120), start) + 1
    match = PROCESS.match(scan.data, max(line, start - 120) if line == 0 else line)
    if match and is_somebody(match[1]):
        scan.add(*match.span(1), "process", USER)


def _user_variable(scan: Scan, start: int, end: int) -> None:
    """USER=jane at the start of a line of an environment."""
    data = scan.data
    if data[start:end] == b"USER=" and (start == 0 or data[start - 1] in b"\n \t;"):
        _account(LOGNAME, "user-variable", scan, start, end)


def _before(pattern: re.Pattern[bytes], rule: str, scan: Scan, start: int, end: int) -> None:
    """The account that the pattern finds right before the literal."""
    match = pattern.search(scan.data, max(0, start - 100), start)
    if match and is_somebody(match[1]):
        scan.add(*match.span(1), rule, USER)


def _of_ssh(scan: Scan, start: int, end: int) -> None:
    """The account under a `Host` of SSH's configuration."""
    data = scan.data
    line = data.rfind(b"\n", max(0, start - 12), start) + 1
    if data[start:end] != b" User " or not line or data[line:start].strip():
        return
    match = SSH_USER.match(data, end)
    if match and is_somebody(match[1]) and SSH_HOST.search(data, max(0, start - 400), start):
        scan.add(*match.span(1), "ssh-user", USER)


def _configured(scan: Scan, start: int, end: int) -> None:
    """The one word that git is told for a name; two are a person's."""
    if SETS_CONFIG.search(scan.low, max(0, start - 80), start):
        _account(CONFIGURED, "git-account", scan, start, end)
        if ASKS_CONFIG.search(scan.low, max(0, start - 120), start):
            _account(WHOAMI, "git-account", scan, start, end)


def _prompted(scan: Scan, start: int, end: int) -> None:
    """Whose password sudo and its like ask for."""
    if ASKS.search(scan.data, max(0, start - 8), start):
        _account(SUDO, "sudo-prompt", scan, start, end)


def _account(pattern: re.Pattern[bytes], rule: str, scan: Scan, start: int, end: int) -> None:
    """The account that the pattern finds right after the literal."""
    match = pattern.match(scan.data, end)
    if match and is_somebody(match[1]):
        scan.add(*match.span(1), rule, USER)
