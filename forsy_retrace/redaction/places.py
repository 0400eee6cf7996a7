"""Hosts and addresses inside a company, and the numbers of its customers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape
from forsy_retrace.redaction.names import CONTAINER, CUSTOMER, HOST, after_escape, common, public

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

LABEL = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_"
PORT = later(rb":\d{2,5}\b|/")
IMPORTED = later(rb"[ \t]{1,4}import\b")
"""What makes a module of Python of the dotted name before it."""
COMMAND_BEFORE = later(
    rb"(?:ssh|scp|sftp|ping6?|curl|wget|dig|nslookup|host|telnet|nc|ncat|mosh|rsync|traceroute"
    rb"|nmap|openssl s_client -connect|http|xh|smb|resolve[sd]?|server|[Hh]ostname|Host|HostName"
    rb"|host_?name|url|addr(?:ess)?|endpoint|dns|[Dd]omain|connect(?:ed|ing)? to|from|to|on|at|@"
    rb"|://|-h|--host|--hostname|--server|\d\.\d{1,3}\.\d{1,3}(?=[ \t]))"
    rb"(?::[ \t]{0,30}|[ \t:=\"']{0,4})(?:-[A-Za-z]{1,3}[ ]{1,2})?(?:[\w.-]{1,40}@)?$"
)
COMPANY = later(
    rb"(?:[a-z0-9-]{2,40}\.){1,3}(?:com|net|org|io|dev|cloud|tech|eu|de|nl|fr|es|it|ch|at|be|se|no|dk|pl"
    rb"|uk)(?!\.?[\w(-])"
)
UNAME = later(
    rb"([A-Za-z0-9][A-Za-z0-9.-]{2,62}) [0-9]{1,2}\.[0-9]{1,3}\.[0-9][\w.+~-]{0,60}"
    rb" (?:#[0-9]|Darwin )"
)
HOSTNAME = later(rb"(?: -[a-z])?\r?\n([A-Za-z0-9][A-Za-z0-9.-]{2,62})[ \t\r]{0,4}(?:\n|$)")
STATIC_HOSTNAME = later(rb"([A-Za-z0-9][A-Za-z0-9.-]{2,62})[ \t\r]{0,4}(?:\n|$)")
COMPUTER_NAME = later(
    rb"([^\n:]{2,40}(?:'|\xe2\x80\x99)s (?:MacBook|iMac|Mac|iPhone|iPad)[\w ]{0,20})"
    rb"[ \t\r]{0,4}(?:\n|$)"
)
REMOTE_HOST = later(rb"([A-Za-z0-9][A-Za-z0-9.-]{2,62})/")
MAC = later(
    rb"-(?:MacBook(?:-Pro|-Air)?|iMac|Mac-mini|Mac-Studio)(?:-[0-9]{1,2})?"
    rb"(?:\.(?:local|localdomain|lan|home))?(?![A-Za-z0-9])"
)
"""What macOS puts behind its owner's name."""
IPV4 = later(rb"(?:10|192|172|169|100)\.(\d{1,3})\.\d{1,3}\.\d{1,3}")
ADDRESS_BEFORE = later(
    rb"(?:://|@|host(?:name)?|ip|addr|address|inet|server|from|to|peer|remote|client|gateway|via|dev"
    rb"|src|dst|nameserver|connect\w{0,4}|listen\w{0,3}|bind|ping|ssh|node|target|endpoint|url|proxy"
    rb"|for|at|on|against)[^\w\n]{0,4}(?:=|:|is)?[ \"'(\[]{0,3}$"
)
BEHIND_ADDRESS = later(
    rb"[ \t]{1,20}(?:- (?:-|[\w.@-]{1,40}) \[|\(\d|[A-Za-z][\w-]{0,60}\.[A-Za-z])"
)
"""What follows an address that begins a line: a log's, a route's, a table of hosts."""
IN_LIST = later(rb"(?:[\[,][ \t\n]{0,12}\\{0,4}[\"']|\[[ \t\n]{0,12}|\n[ \t]{0,20}- [\"']?)$")
ENDS_ITEM = later(rb"\\{0,4}[\"']?[ \t]{0,4}(?:[,\]\n\r]|$)")
"""An item of a list in JSON or YAML."""
# Addresses that stand in every manual and in every home tell nothing.
EVERYONES = frozenset((b"169.254.169.254", b"10.0.2.2", b"10.0.2.15", b"100.100.100.200"))
OF_EVERY_NETWORK = later(
    rb"192\.168\.(?:[01]|100|122|99)\.\d+$|10\.(?:0\.[0-3]|1\.1|10\.10)\.\d+$|10\.96\.0\.\d+$"
    rb"|172\.(?:1[6-9]|20)\.0\.\d+$|10\.1\.2\.3$|10\.11\.12\.13$|[\d.]+\.0$|[\d.]+\.255$"
)
VERSION_BEFORE = later(
    rb"(?:(?:^|[^a-z])(?:version|ver|v|release[ds]?|tag|build|rc)|==|~=|>=|<=|\^|~|-|_|#)"
    rb"[ :=\"']{0,3}$"
)
IPV6 = later(rb"(?:f[cd][0-9a-f]{2}|fe80)(?::[0-9a-f]{0,4}){2,7}(?:%[a-z0-9]{1,15})?")
SINGLE = later(
    rb"(?:[^\s/@:\"']{1,100}(?::[^\s/@\"']{1,100})?@)?([A-Za-z0-9]"
    rb"(?:[A-Za-z0-9-]{1,61}[A-Za-z0-9]))(?::\d{2,5})?(?:[/?\s\"'`,)>\]]|$)"
)
UNC = later(rb"(?:\\{2}|\\{4}|\\{8})([A-Za-z0-9][A-Za-z0-9._-]{3,62})\\{1,4}[A-Za-z$][\w$ -]{1,60}")
ESCAPE_LIKE = later(
    rb"[uUxN0-9][0-9a-fA-F]{0,8}(?:$|-)|u?[0-9a-fA-F]{2,8}$|u00[0-9a-fA-F]{2}|[nrt]-"
    rb"|(?:rtf|ansicpg|deff|deflang|pard|cellx|trowd)[0-9]{1,5}$"
)
"""What may stand behind two backslashes: an escape's digits, a word of rich text."""
CUSTOMER_VALUE = later(
    rb"(?:[_ -]?(?:id|ids|no|n?nr|num|number|n?nummer|code|ref|uuid|key))?\\{0,3}[\"'`]?"
    rb"[ \t]{0,4}(?:[:=#]{1,2}|=>|: ?#|is[ ]|[ ]#|\.[ ]|>(?=[\w-]{3,64}</))"
    rb"[ \t]{0,4}#?\\{0,3}[\"'`]?([A-Za-z0-9][A-Za-z0-9_-]{2,63})"
)
NAMES_A_NUMBER = b"id", b"number", b"client"
"""How the words of customers end that say themselves that a number follows."""
STRIPE_CUSTOMER = later(rb"[A-Za-z0-9]{10,24}")


def rows() -> Iterator[tuple[bytes, Rule]]:
    for top in rules.words("places", "tops"):
        yield top, _internal_host
    for label in rules.words("places", "inner"):
        yield label, _inside_company
    for mac in (b"-macbook", b"-imac", b"-mac-mini", b"-mac-studio"):
        yield mac, _mac
    for system in (b"linux ", b"darwin "):
        yield system, partial(_named_host, UNAME)
    for sign in (b"$", b"%", b">", b"#"):
        yield sign + b" hostname", partial(_named_host, HOSTNAME)
    yield b"static hostname: ", partial(_named_host, STATIC_HOSTNAME)
    for thing in (b"computer name: ", b"device name: "):
        yield thing, partial(_named_host, COMPUTER_NAME)
    for sign in (b"+", b"%2b"):
        yield b"ssh-remote" + sign, partial(_named_host, REMOTE_HOST)
    yield b".svc.cluster.local", _cluster_host
    for begin in rules.words("places", "networks"):
        yield begin, _ipv4
    yield b"fe80:", _ipv6
    for first in range(0xFC00, 0xFE00):
        yield b"%04x:" % first, _ipv6
    yield b"://", _single_label
    yield b"\\\\", _unc
    yield b"cus_", _stripe_customer
    for word in rules.words("places", "customers"):
        yield word, _customer


def _labels_before(data: bytes, start: int) -> int:
    """Where the host's labels before this place begin."""
    before = data[max(0, start - 150) : start]
    begin = start - (len(before) - len(before.rstrip(LABEL)))
    begin = after_escape(data, begin, start)
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
        return  # .corp.example.com has a rule of its own
    _host(scan, start, end)


def _inside_company(scan: Scan, start: int, end: int) -> None:
    """wiki.corp.example.com"""
    domain = COMPANY.match(scan.low, end)
    if domain:
        _host(scan, start, domain.end())


def _host(scan: Scan, start: int, end: int) -> None:
    """Adds the host that ends here, if something around it says that it is one."""
    data = scan.data
    following = data[end : end + 1]
    begin = _labels_before(data, start)
    if begin >= start or IMPORTED.match(data, end):
        return
    host = data[begin:end].lower()
    if (
        public()[0].search(host)
        or b".." in host
        or (begin and data[begin - 1] in b"/" and data[begin - 2 : begin - 1] != b"/")
    ):
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
        or (
            b"_" not in host
            and COMMAND_BEFORE.search(data, max(0, begin - 60), begin)
            and len(host) >= 8
        )
    ):
        if following == b"=" or (following == b" " and data[end + 1 : end + 2] == b"="):
            return
        scan.add(begin, end, "internal-host", HOST)


def _mac(scan: Scan, start: int, end: int) -> None:
    """The name of a computer, which holds its owner's: Jans-MacBook-Pro.local"""
    mac, begin = MAC.match(scan.data, start), _labels_before(scan.data, start)
    if mac and 2 < start - begin <= 40:
        scan.add(begin, mac.end(), "mac", HOST)


def _named_host(pattern: re.Pattern[bytes], scan: Scan, start: int, end: int) -> None:
    """The host that the pattern finds right after the literal."""
    match = pattern.match(scan.data, end)
    if match and match[1].lower() not in common() and not CONTAINER.fullmatch(match[1].lower()):
        scan.add(*match.span(1), "named-host", HOST)


def _ipv4(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if start and (data[start - 1] in shape.ALNUM or data[start - 1] in b"._-"):
        return
    match = IPV4.match(data, start)
    if match is None:
        return
    stop = match.end()
    if data[stop : stop + 1] and (
        data[stop] in shape.ALNUM or (data[stop] in b".-_" and data[stop + 1 : stop + 2].isalnum())
    ):
        return
    address = match[0]
    parts = [int(part) for part in address.split(b".")]
    if max(parts) > 255:
        return
    first, second = parts[0], parts[1]
    is_private = (
        first == 10
        or (first, second) in ((192, 168), (169, 254))
        or (first == 172 and 16 <= second <= 31)
        or (first == 100 and 64 <= second <= 127)
    )
    if not is_private or address in EVERYONES or OF_EVERY_NETWORK.match(address):
        return
    is_item = ENDS_ITEM.match(data, stop) and IN_LIST.search(data, max(0, start - 40), start)
    if not is_item and VERSION_BEFORE.search(scan.low, max(0, start - 20), start):
        return
    if (
        first == 192
        or PORT.match(data, stop)
        or ADDRESS_BEFORE.search(scan.low, max(0, start - 30), start)
        or BEHIND_ADDRESS.match(data, stop)
        or is_item
    ):
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
    if (
        address.endswith(b":")
        or len(groups) < 3
        or (b"::" not in address and address.count(b":") != 7)
    ):
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
    if (
        len(host) < 4
        or host in common()
        or host.isdigit()
        or not (b"-" in host or any(byte in shape.DIGIT for byte in host))
    ):
        return
    if not any(97 <= byte <= 122 for byte in host) or any(
        word in host for word in rules.words("places", "examples")
    ):
        return
    scheme = scan.low[max(0, start - 10) : start]
    if scheme.endswith(tuple(rules.words("places", "schemes"))):
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
    if (
        (b"-" in host or b"." in host or any(byte in shape.DIGIT for byte in host))
        and host.lower() not in common()
        and (
            not public()[0].search(host.lower())
            and host.lower() != b"wsl.localhost"
            and not host[:1].isdigit()
        )
    ):
        scan.add(*match.span(1), "unc-host", HOST)


def _stripe_customer(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if start and (data[start - 1] in shape.ALNUM or data[start - 1] in b"_"):
        return
    match = STRIPE_CUSTOMER.match(data, end)
    if match is None or data[start:end] != b"cus_" or len(set(match[0])) < 6:
        return
    if any(byte in shape.DIGIT for byte in match[0]) or shape.turns(match[0]) >= 3:
        scan.add(start, match.end(), "customer-id", CUSTOMER)


def _customer(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    match = CUSTOMER_VALUE.match(scan.low, end)
    if match is None:
        return
    value = data[match.start(1) : match.end(1)]
    if (
        not any(byte in shape.DIGIT for byte in value)
        or shape.is_placeholder(value)
        or shape.TIME.match(value)
    ):
        return
    said = scan.low[end : match.start(1)]
    is_numbered = value.isdigit() and scan.low[start:end].endswith(NAMES_A_NUMBER)
    is_named = is_numbered or re.match(
        rb"[_ -]?(?:id|no|n?nr|n?num|code|ref|uuid|key)"
        rb"|\\{0,3}[\"'`]?[ \t]{0,4}[:=]?[ \t]{0,2}#|[ ]#",
        said,
    )
    if not is_named and not (
        re.match(rb"[A-Za-z]{2,8}[-_][0-9A-Za-z]{4,}$", value)
        and any(byte in shape.DIGIT for byte in value)
    ):
        return
    if (
        data[match.end(1) : match.end(1) + 1] in (b"(", b"[", b".")
        and not data[match.end(1) + 1 : match.end(1) + 2].isspace()
    ):
        return
    if value.isdigit() and len(value) < 4:
        return
    scan.add(*match.span(1), "customer-id", CUSTOMER)
