"""People, accounts, mail addresses, hosts inside a company and numbers of customers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from forsy_retrace.redaction import rules, shape

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

USER, PERSON, EMAIL, HOST, CUSTOMER = "USER", "PERSON", "EMAIL", "INTERNAL_URL", "CUSTOMER_ID"

LOCAL = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+-"
LABEL = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_"

ACCOUNT = re.compile(rb"[A-Za-z0-9_][A-Za-z0-9._@+-]{1,62}")
ACCOUNT_WITH_SPACE = re.compile(rb"[A-Za-z0-9_][A-Za-z0-9._+-]{1,40}(?: [A-Z][A-Za-z]{1,20})?")
CLAUDE_DIRECTORY = re.compile(rb"([A-Za-z0-9_]{2,40})-")
DOMAIN = re.compile(rb"(?:@|%40)((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}([A-Za-z]{2,24}))")
PROMPT = re.compile(
    rb"@([A-Za-z0-9][A-Za-z0-9.-]{0,62})(?::[ ]?[~/][^\s$#%]{0,200}[ ]?[$#]|[ ][^\s$#%]{1,100}[ ]?[%$#][ \n]|\][$#])"
)
REMOTE = re.compile(rb"(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id)\b[^\n|;&]{0,200}$")
AT_HOST = re.compile(rb"@([A-Za-z0-9][A-Za-z0-9.-]{0,120})")
NAME_BEFORE = re.compile(
    rb"((?:[A-Z\xc3-\xce][\w\x80-\xff'.-]{0,30} ){1,3}[A-Z\xc3-\xce][\w\x80-\xff'.-]{1,30}),? ?\\{0,3}[\"']? ?(?:<|&lt;|%3C|\()$"
)
# Names in the heads of source files are public; those in mail and in git's output are meant.
HEADER_BEFORE = re.compile(
    rb"(?:^|[\n\r]|\\n|<)[ \t>]{0,8}(?:[0-9a-f]{7,40} )?(?:[*-] )?(?:[a-z-]{2,20}-by|author|commit|committer|from|to|cc|bcc|reply-to|sender|tagger|merged?)?(?:: {0,8}|[ \t]{0,4})$"
    rb"|[\"'](?:[a-z-]{2,20}_by|author|committer|from|to|cc|sender|owner|user|contact)\\{0,3}[\"'] ?: ?\\{0,3}[\"']$|--author[ =][\"']?$"
)
TWO_NAMES = rb"([A-Z\xc3-\xce][a-z\x80-\xff'][\w\x80-\xff'-]{0,25}(?: [A-Z]\.)?(?: (?:van|von|de|der|den|da|di|la|le|bin|al|el)){0,2}(?: [A-Z\xc3-\xce][\w\x80-\xff'-]{1,25}){1,2})"
AFTER_KEY = re.compile(
    rb"\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?" + TWO_NAMES + rb"(?:\\{0,3}[\"'<,;\r\n]| <|$|\\n)"
)
ONE_NAME = re.compile(
    rb"\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']([A-Z\xc3-\xce][\w\x80-\xff'-]{2,25})\\{0,3}[\"']"
)
GIT_NAME = re.compile(rb"[ =]{1,3}[\"']?" + TWO_NAMES)
TODO_NAME = re.compile(TWO_NAMES + rb"\)")
SIGNED = re.compile(rb",?!?\r?\n(?:\r?\n)?(?:-{1,2} ?)?" + TWO_NAMES + rb"(?:\r?\n|$)")
BLAME = re.compile(rb"\(" + TWO_NAMES + rb"[ ]{1,30}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")
OWNER = re.compile(
    rb"[dlbcps-]?[r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-][.@+]?[ ]{1,8}\d{1,6}[ ]{1,8}([A-Za-z_][\w.+-]{1,40})[ ]{1,20}([A-Za-z_][\w.+ -]{0,40}?)[ ]{1,20}\d"
)
PROCESS = re.compile(rb"([a-z_][a-z0-9_.-]{2,31})\+?[ ]{1,20}\d{1,8}[ ]{1,8}\d{1,3}\.\d[ ]{1,8}\d{1,3}\.\d[ ]")
WHOAMI = re.compile(rb"[ \t]{0,4}\r?\n(?:[\w-]{1,30}\\)?([A-Za-z_][A-Za-z0-9_.-]{2,31})[ \t]{0,4}(?:\r?\n|$)")
UID = re.compile(rb"\d{1,10}\(([A-Za-z_][\w.-]{1,40})\)")
LOGNAME = re.compile(rb"[\"']?([A-Za-z_][\w.-]{2,31})[\"']?(?:[ \t;]{0,4}(?:\r?\n|$)|[ ;])")
SUDO = re.compile(rb"([a-z_][\w.-]{1,31}): ?")
PASSWD_LINE = re.compile(rb"x:\d{1,6}:\d{1,6}:")

HOST_RUN = re.compile(rb"[A-Za-z0-9_-]{1,63}")
PORT = re.compile(rb":\d{2,5}\b|/")
COMMAND_BEFORE = re.compile(
    rb"(?:ssh|scp|sftp|ping6?|curl|wget|dig|nslookup|host|telnet|nc|ncat|mosh|rsync|traceroute|nmap|openssl s_client -connect|http|xh|smb|resolve[sd]?|server|hostname|Host|HostName|host_?name|url|addr(?:ess)?|endpoint|dns|domain|connect(?:ed|ing)? to|from|to|on|at|@|://)[ \t:=\"']{0,4}(?:-[A-Za-z]{1,3}[ ]{1,2})?(?:[\w.-]{1,40}@)?$"
)
IPV4 = re.compile(rb"(?:10|192|172|169|100)\.(\d{1,3})\.\d{1,3}\.\d{1,3}")
ADDRESS_BEFORE = re.compile(
    rb"(?:://|@|host|ip|addr|address|inet|server|from|to|peer|remote|client|gateway|via|dev|src|dst|nameserver|connect\w{0,4}|listen\w{0,3}|bind|ping|ssh|node|target|endpoint|url|proxy|for|at|on|against)[^\w\n]{0,4}(?:=|:|is)?[ \"'(\[]{0,3}$"
)
# Addresses that stand in every manual and in every home tell nothing.
EVERYONES = frozenset((b"169.254.169.254", b"10.0.2.2", b"10.0.2.15", b"100.100.100.200"))
OF_EVERY_NETWORK = re.compile(
    rb"192\.168\.(?:[01]|100|122|99)\.\d+$|10\.(?:0\.[0-3]|1\.1|10\.10)\.\d+$|10\.96\.0\.\d+$|172\.(?:1[6-9]|20)\.0\.\d+$|10\.1\.2\.3$|10\.11\.12\.13$|[\d.]+\.0$|[\d.]+\.255$"
)
VERSION_BEFORE = re.compile(rb"(?:version|ver|v|==|~=|>=|<=|\^|~|release[ds]?|tag|build|rc|-|_|#)[ :=\"']{0,3}$")
IPV6 = re.compile(rb"(?:f[cd][0-9a-f]{2}|fe80)(?::[0-9a-f]{0,4}){2,7}(?:%[a-z0-9]{1,15})?")
SINGLE = re.compile(rb"(?:[^\s/@:\"']{1,100}(?::[^\s/@\"']{1,100})?@)?([A-Za-z0-9](?:[A-Za-z0-9-]{1,61}[A-Za-z0-9]))(?::\d{2,5})?(?:[/?\s\"'`,)>\]]|$)")
UNC = re.compile(rb"\\{2,8}([A-Za-z0-9][A-Za-z0-9._-]{3,62})\\{1,4}[A-Za-z$][\w$ -]{1,60}")

ESCAPE_LIKE = re.compile(rb"[uUxN0-9][0-9a-fA-F]{0,8}(?:$|-)|u?[0-9a-fA-F]{2,8}$")

CUSTOMER_VALUE = re.compile(
    rb"(?:[_ -]?(?:id|ids|no|nr|num|number|code|ref|uuid|key))?\\{0,3}[\"'`]?[ \t]{0,4}(?:[:=#]{1,2}|=>|: ?#|is[ ]|[ ]#)[ \t]{0,4}#?\\{0,3}[\"'`]?([A-Za-z0-9][A-Za-z0-9_-]{2,63})"
)
STRIPE_CUSTOMER = re.compile(rb"[A-Za-z0-9]{10,24}")


def rows() -> Iterator[tuple[bytes, Rule]]:
    for home in (b"/home/", b"/users/", b"\\users\\", b"\\users\\\\", b"settings\\", b"/users\\/", b"/home\\/"):
        yield home, _home
    yield b"-users-", _claude_directory
    yield b"-home-", _claude_directory
    yield b"@", _at
    yield b"%40", _at
    for rights in (b"-rw", b"drwx", b"lrwx", b"-r-x", b"-r--", b"dr-x", b"drw-"):
        yield rights, _owner
    yield b" 0.0 ", _process
    yield b"whoami", _whoami
    yield b"uid=", _uid
    yield b"logname=", partial(_after, LOGNAME, USER, "logname")
    yield b"user=", _user_variable
    yield b"password for ", partial(_after, SUDO, USER, "sudo-prompt")
    yield b"user.name", partial(_after, GIT_NAME, PERSON, "git-name")
    yield b"todo(", partial(_after, TODO_NAME, PERSON, "todo-name")
    yield b"fixme(", partial(_after, TODO_NAME, PERSON, "todo-name")
    for key in ("displayname", "display_name", "full_name", "fullname", "real_name", "realname", "assignee", "reporter", "author", "author_name", "committer", "reviewer", "approver", "employee", "contact_name", "customer_name", "cardholder", "given_name", "signed-off-by", "co-authored-by", "reviewed-by", "acked-by", "tested-by", "reported-by"):
        yield key.encode(), partial(_after, AFTER_KEY, PERSON, "name-key")
    for key in ("first_name", "last_name", "firstname", "lastname", "surname", "family_name", "familyname"):
        yield key.encode(), partial(_after, ONE_NAME, PERSON, "name-key")
    for close in ("thanks", "regards", "cheers", "sincerely", "best wishes", "greetings", "groeten", "grüße", "cordialement"):
        yield close.encode(), partial(_after, SIGNED, PERSON, "signature-name")
    for zone in ("+0000", "+0100", "+0200", "+0300", "+0530", "+0800", "+0900", "+1000", "+1100", "-0300", "-0400", "-0500", "-0600", "-0700", "-0800"):
        yield f" {zone} ".encode(), _blame
    for top in (".internal", ".corp", ".local", ".lan", ".intranet", ".home.arpa"):
        yield top.encode(), _internal_host
    yield b".svc.cluster.local", _cluster_host
    for begin in ("10.", "192.168.", "172.1", "172.2", "172.3", "169.254.", "100."):
        yield begin.encode(), _ipv4
    yield b"fe80:", _ipv6
    for first in ("fc", "fd"):
        for second in range(256):
            yield f"{first}{second:02x}:".encode(), _ipv6
    yield b"://", _single_label
    yield b"\\\\", _unc
    yield b"cus_", _stripe_customer
    for word in ("customer", "tenant", "account", "client ", "client#", "acct", "klant", "kunde", "subscriber", "member_id", "memberid", "policy number", "patient", "contract"):
        yield word.encode(), _customer


@lru_cache(maxsize=1)
def nobody() -> frozenset[bytes]:
    return rules.words("names", "nobody")


@lru_cache(maxsize=1)
def common() -> frozenset[bytes]:
    """Words that are not masked outside their place, though a person may be called so."""
    return rules.words("names", "common") | nobody()


@lru_cache(maxsize=1)
def _public() -> tuple[re.Pattern[bytes], re.Pattern[bytes], frozenset[bytes]]:
    return (
        rules.expression("names", "public_host"),
        rules.expression("names", "public_mail"),
        rules.words("names", "tlds"),
    )


def is_somebody(name: bytes) -> bool:
    """An account that may be a person's."""
    low = name.lower()
    return (
        len(low) >= 3
        and low not in nobody()
        and not low[:1].isdigit()
        and not shape.is_placeholder(low)
        and (low.rstrip(b"0123456789") not in nobody() or low.rstrip(b"0123456789") == b"")
    )


def _after_escape(data: bytes, start: int, end: int) -> int:
    """The start, or a later one where an escape's letters were taken for a part of the name."""
    if start and data[start - 1] == 0x5C and start < end:
        return min(end, start + (5 if data[start] == 0x75 else 1))
    return start


def _home(scan: Scan, start: int, end: int) -> None:
    data, literal = scan.data, scan.low[start:end]
    if b"users" in literal:
        if data[start:end].find(b"Users") < 0 and b"\\" not in literal:
            return
    elif (literal == b"settings\\" and scan.low[max(0, start - 14) : start] != b"documents and ") or (start and (data[start - 1] in shape.ALNUM or data[start - 1] in b"}>)]_*") and not _is_root(scan, start)):
        return
    match = (ACCOUNT_WITH_SPACE if b"\\" in literal else ACCOUNT).match(data, end)
    if match is None:
        return
    name = match[0]
    if b" " in name and data[match.end() : match.end() + 1] != b"\\":
        name = name.partition(b" ")[0]
    stop = end + len(name.rstrip(b".,-@+"))
    if data[stop : stop + 1] in (b"(", b"*", b"=") or (b"/" in literal and data[stop : stop + 1] == b":" and data[stop + 1 : stop + 2] == b":"):
        return
    name = data[end:stop]
    if is_somebody(name) and (b"." not in name or name.rpartition(b".")[2] not in FILES):
        scan.add(end, stop, "home", USER)


FILES = frozenset(b"html htm js ts tsx jsx css php py md json txt vue go rs java svg png xml yml yaml sh".split())


def _is_root(scan: Scan, start: int) -> bool:
    """The folder before /home/ is one that holds homes."""
    before = scan.low[max(0, start - 60) : start]
    return before.endswith((b"/var", b"/export", b"/usr", b"/nfs", b"/mnt", b"/data", b"/private", b"/host", b"file:/", b"/rootfs", b"/net", b"localhost", b"wsl$", b"ubuntu"))


def _claude_directory(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if (start and (data[start - 1] in shape.ALNUM)) or data[start:end] not in (b"-Users-", b"-home-"):
        return
    match = CLAUDE_DIRECTORY.match(data, end)
    if match and is_somebody(match[1]):
        scan.add(end, match.end(1), "claude-directory", USER)


def _at(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    before = data[max(0, start - 64) : start]
    begin = start - (len(before) - len(before.rstrip(LOCAL)))
    begin = _after_escape(data, begin, start)
    while begin < start and data[begin] in b".-+%":
        begin += 3 if data[begin] == 0x25 and data[begin + 1 : begin + 3].isalnum() else 1
    if begin >= start:
        return
    match = DOMAIN.match(data, start)
    if match and _is_mail(data[begin:start], match[1], match[2]):
        after = data[match.end() : match.end() + 1]
        if after not in (b"(", b"_") and not (after == b"=" and b"%" not in data[begin:start]):
            if begin > 1 and data[begin - 1] in b":/" and b"://" in data[max(0, begin - 80) : begin]:
                return  # an address with its user, not mail
            scan.add(begin, match.end(), "email", EMAIL)
            _name_of_mail(scan, begin)
            return
    if data[start:end] == b"@":
        _account_at_host(scan, begin, start)


def _is_mail(local: bytes, domain: bytes, top: bytes) -> bool:
    _, public_mail, tops = _public()
    low = domain.lower()
    if len(top) > 2 and top.lower() not in tops:
        return False
    if domain[:1].isdigit() and b"." in domain[:4] and domain[:3].replace(b".", b"").isdigit():
        return False
    return public_mail.search(local.lower() + b"@" + low) is None


def _name_of_mail(scan: Scan, begin: int) -> None:
    """The name before <mail>."""
    match = NAME_BEFORE.search(scan.data, max(0, begin - 110), begin)
    if match and not match[1].startswith((b"By ", b"From ", b"To ")) and HEADER_BEFORE.search(scan.low, max(0, match.start(1) - 60), match.start(1)):
        scan.add(match.start(1), match.end(1), "mail-name", PERSON)


def _account_at_host(scan: Scan, begin: int, at: int) -> None:
    data = scan.data
    name = data[begin:at]
    prompt = PROMPT.match(data, at)
    if prompt is None:
        line = data.rfind(b"\n", max(0, begin - 200), begin) + 1
        remote = AT_HOST.match(data, at)
        if remote is None or not REMOTE.search(data, max(line, begin - 200), begin):
            return
        prompt = remote
    if not ACCOUNT.fullmatch(name) or not is_somebody(name):
        return
    scan.add(begin, at, "prompt", USER)
    host = prompt[1].rstrip(b".")
    if b"." not in host and host.lower() not in common() and not _public()[0].search(host.lower()):
        if len(host) >= 3:
            scan.add(prompt.start(1), prompt.start(1) + len(host), "prompt-host", HOST)


def _owner(scan: Scan, start: int, end: int) -> None:
    match = OWNER.match(scan.data, start)
    if match:
        for group in (1, 2):
            if is_somebody(match[group]) and b" " not in match[group]:
                scan.add(*match.span(group), "owner", USER)


def _process(scan: Scan, start: int, end: int) -> None:
    line = scan.data.rfind(b"\n", max(0, start - 120), start) + 1
    match = PROCESS.match(scan.data, max(line, start - 120) if line == 0 else line)
    if match and is_somebody(match[1]):
        scan.add(*match.span(1), "process", USER)


def _whoami(scan: Scan, start: int, end: int) -> None:
    _after(WHOAMI, USER, "whoami", scan, start, end)


def _uid(scan: Scan, start: int, end: int) -> None:
    _after(UID, USER, "uid", scan, start, end)


def _user_variable(scan: Scan, start: int, end: int) -> None:
    """USER=jane at the start of a line of an environment."""
    data = scan.data
    if data[start:end] == b"USER=" and (start == 0 or data[start - 1] in b"\n \t;"):
        _after(LOGNAME, USER, "user-variable", scan, start, end)


def _after(pattern: re.Pattern[bytes], kind: str, rule: str, scan: Scan, start: int, end: int) -> None:
    """What the pattern finds right after the literal, if it is somebody."""
    match = pattern.match(scan.data, end)
    if match is None:
        return
    name = match[1]
    if kind == PERSON:
        low = name.lower()
        if scan.low[start:end] in (b"author", b"committer") and not _is_quoted(scan.data, match):
            return  # a comment's "Author: …"; git writes the mail behind the name
        if low in NOT_PEOPLE or any(part in ROLES for part in low.split()):
            return
    elif not is_somebody(name):
        return
    scan.add(*match.span(1), rule, kind)


def _is_quoted(data: bytes, match: re.Match[bytes]) -> bool:
    return data[match.start(1) - 1 : match.start(1)] in (b'"', b"'")


NOT_PEOPLE = frozenset((b"john doe", b"jane doe", b"test user", b"your name", b"first last", b"full name"))
ROLES = frozenset(
    b"team user users test name author example your bot software foundation inc inc. ltd corp company group project authors contributors engineer manager developer admin system service app unknown none null true false string the of and for code claude github actions open source".split()
)


def _blame(scan: Scan, start: int, end: int) -> None:
    match = BLAME.search(scan.data, max(0, start - 110), start)
    if match and match[1].lower() not in NOT_PEOPLE:
        scan.add(*match.span(1), "blame", PERSON)


def _labels_before(data: bytes, start: int) -> int:
    """Where the host's labels before this place begin."""
    before = data[max(0, start - 150) : start]
    begin = start - (len(before) - len(before.rstrip(LABEL)))
    begin = _after_escape(data, begin, start)
    while begin < start and data[begin] in b".-_":
        begin += 1
    return begin


def _cluster_host(scan: Scan, start: int, end: int) -> None:
    begin = _labels_before(scan.data, start)
    if begin < start:
        scan.add(begin, end, "cluster-host", HOST)


def _internal_host(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    following = data[end : end + 1]
    if following and (following[0] in shape.ALNUM or following in (b"_", b"-", b"(", b"[")):
        return
    if following == b"." and data[end + 1 : end + 2].isalnum():
        return  # .corp.example.com is looked at as mail or by a term
    begin = _labels_before(data, start)
    if begin >= start:
        return
    host = data[begin:end].lower()
    if _public()[0].search(host) or b".." in host or (begin and data[begin - 1] in b"/" and data[begin - 2 : begin - 1] != b"/"):
        return
    labels = host.split(b".")[:-1]
    is_shaped = len(labels) >= 2 and any(
        b"-" in label or (label[-1:].isdigit() and label[:1].isalpha()) for label in labels
    )
    if (
        data[max(0, begin - 3) : begin] == b"://"
        or data[max(0, begin - 1) : begin] == b"@"
        or (PORT.match(data, end) and following == b":")
        or is_shaped
        or (b"_" not in host and COMMAND_BEFORE.search(data, max(0, begin - 60), begin) and len(host) >= 8)
    ):
        if following == b"=" or (following == b" " and data[end + 1 : end + 2] == b"="):
            return
        scan.add(begin, end, "internal-host", HOST)


def _ipv4(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if start and (data[start - 1] in shape.ALNUM or data[start - 1] in b"._-"):
        return
    match = IPV4.match(data, start)
    if match is None:
        return
    stop = match.end()
    if data[stop : stop + 1] and (data[stop] in shape.ALNUM or (data[stop] in b".-_" and data[stop + 1 : stop + 2].isalnum())):
        return
    address = match[0]
    parts = [int(part) for part in address.split(b".")]
    if max(parts) > 255:
        return
    first, second = parts[0], parts[1]
    is_private = first == 10 or (first, second) in ((192, 168), (169, 254)) or (first == 172 and 16 <= second <= 31) or (first == 100 and 64 <= second <= 127)
    if not is_private or address in EVERYONES or OF_EVERY_NETWORK.match(address):
        return
    if VERSION_BEFORE.search(scan.low, max(0, start - 20), start):
        return
    if first == 192 or PORT.match(data, stop) or ADDRESS_BEFORE.search(scan.low, max(0, start - 30), start):
        scan.add(start, stop, "private-address", HOST)


def _ipv6(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if start and (data[start - 1] in shape.ALNUM or data[start - 1] in b":._-"):
        return
    match = IPV6.match(scan.low, start)
    if match is None:
        return
    address = match[0].partition(b"%")[0]
    groups = [group for group in address.split(b":") if group.strip(b"0")]
    if address.endswith(b":") or len(groups) < 3 or (b"::" not in address and address.count(b":") != 7):
        return
    if address.startswith(b"fe80") and data[start - 1 : start] in (b'"', b"'", b"["):
        return  # code about addresses; logs have them bare
    if match.end() >= len(data) or data[match.end()] not in shape.ALNUM:
        scan.add(start, match.end(), "private-address", HOST)


def _single_label(scan: Scan, start: int, end: int) -> None:
    match = SINGLE.match(scan.data, end)
    if match is None or scan.low[max(0, start - 4) : start] == b"file":
        return
    host = match[1].lower()
    if len(host) < 4 or host in common() or host.isdigit() or not (b"-" in host or any(byte in shape.DIGIT for byte in host)):
        return
    if not any(97 <= byte <= 122 for byte in host) or any(
        word in host for word in (b"host", b"example", b"your", b"server", b"domain", b"my-", b"some", b"test", b"foo", b"bar", b"node", b"xn--")
    ):
        return
    scheme = scan.low[max(0, start - 10) : start]
    if scheme.endswith((b"http", b"https", b"ssh", b"ftp", b"ftps", b"sftp", b"smb", b"ldap", b"ldaps", b"rdp", b"vnc", b"ws", b"wss", b"git")):
        scan.add(*match.span(1), "single-label-host", HOST)


def _unc(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if start and (data[start - 1] in shape.ALNUM or data[start - 1] in b"\\:)]}.*+?"):
        return
    match = UNC.match(data, start)
    if match is None:
        return
    host = match[1]
    if ESCAPE_LIKE.match(host):
        return
    first = host.lower().split(b".")[0].rstrip(b"0123456789")
    if first in common() or not first:
        return
    if (b"-" in host or b"." in host or any(byte in shape.DIGIT for byte in host)) and host.lower() not in common():
        if not _public()[0].search(host.lower()) and host.lower() != b"wsl.localhost" and not host[:1].isdigit():
            scan.add(*match.span(1), "unc-host", HOST)


def _stripe_customer(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if start and (data[start - 1] in shape.ALNUM or data[start - 1] in b"_"):
        return
    match = STRIPE_CUSTOMER.match(data, end)
    if match and data[start:end] == b"cus_" and len(set(match[0])) >= 6 and any(byte in shape.DIGIT for byte in match[0]):
        scan.add(start, match.end(), "customer-id", CUSTOMER)


def _customer(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    match = CUSTOMER_VALUE.match(scan.low, end)
    if match is None:
        return
    value = data[match.start(1) : match.end(1)]
    if not any(byte in shape.DIGIT for byte in value) or shape.is_placeholder(value) or shape.TIME.match(value):
        return
    said = scan.low[end : match.start(1)]
    is_named = re.match(rb"[_ -]?(?:id|no|nr|num|code|ref|uuid|key)|\\{0,3}[\"'`]?[ \t]{0,4}[:=]?[ \t]{0,2}#|[ ]#", said)
    if not is_named and not (re.match(rb"[A-Za-z]{2,8}[-_][0-9A-Za-z]{4,}$", value) and any(byte in shape.DIGIT for byte in value)):
        return
    if data[match.end(1) : match.end(1) + 1] in (b"(", b"[", b".") and not data[match.end(1) + 1 : match.end(1) + 2].isspace():
        return
    if value.isdigit() and len(value) < 4:
        return
    scan.add(*match.span(1), "customer-id", CUSTOMER)
