"""Judges whether a value looks like a secret, a word, a reference or code."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules

ALNUM = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
DIGIT = frozenset(b"0123456789")

UUID = later(rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
HEX = later(rb"(?:0x)?[0-9a-fA-F]{1,1000}")
CODE = later(
    rb"[$%]?\{\{?|\$[A-Za-z_({!@*#?0-9]|<[A-Za-z_%$?!/]|%[A-Za-z_]{1,60}%|@[A-Za-z_.]{1,60}@?$"
    rb"|[A-Za-z_$][\w$]{0,80}(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]{0,80}){0,8}!?"
    rb"(?:\(|\[[\"'A-Za-z_0-9$:]|\)|\{|\]$)"
    rb"|\(|\[|\{|!\w|&[\w(]|\*[\w(]|/\*|//|=|\|\||&&|!!|\+\+|%[sdrvqx]|#\{|~[/\w]{1,60}$"
    rb"|(?:new|await|async|lambda|not|return|if|import|from|const|let|var|function|typeof|yield)\b"
    rb"|-{2,}|\?|:|;|,|\.{2,}|\.[*+]|>"
)
# A sign of code before a word with figures and another sign: $uper4Tiger!
SIGNED = later(
    rb"(?:\$[a-z]|[!&*>?^][A-Za-z0-9])[A-Za-z0-9]{1,40}[0-9][A-Za-z0-9]{0,40}[!@#$%^&*]{1,3}"
    rb"[A-Za-z0-9]{0,12}$"
)
REFERENCE = later(
    rb"(?:[A-Za-z_$][\w$-]{0,80}(?:\.|::|->|\?\.|:)){1,8}[A-Za-z_$*][\w$-]{0,80}[!?;,]?$"
)
WORD = later(rb"[A-Za-z_\x80-\xff][A-Za-z_\x80-\xff-]{0,80}[;,.:!?]?$")
PATH = later(
    rb"(?:~|\.{1,2})?/(?:[\w@.+-]{1,80}/){1,20}[\w@.+-]{0,80}$|[A-Za-z]:\\|\.{1,2}/|/(?:etc|run"
    rb"|var|usr|opt|home|tmp|mnt|dev|proc|secrets?|vault|app|root)\b"
    rb"|[\w-]{1,60}(?:/[\w.-]{1,60}){1,8}\.[a-z]{2,5}$|[\w.-]{1,80}\.(?:json|ya?ml|pem|key|txt|py"
    rb"|js|ts|tsx|go|rs|md|env|toml|crt|cer|p12|pfx|jks|conf|cfg|ini|sh|html?|css|png|svg|log|lock"
    rb"|sql|java|rb|php)$"
)
# A log's name may hold an id: no value that a machine made ends so.
FILE = later(rb"[\w.-]{1,160}\.(?:jsonl?|ndjson|log|txt)$")
URL = later(rb"[a-zA-Z][a-zA-Z0-9+.-]{1,20}://")
TYPES = later(
    rb"(?:Optional|Union|Callable|Type|Tuple|Iterable|Iterator|Mapping|List|Dict|Sequence|Annotated|Literal|Option|Vec|Arc|Box|String|Buffer"
    rb"|SecretStr|Promise|Record|Array|Map|Set)\b"
)
SLUG = later(
    rb"(?:[A-Za-z]{1,24}|[0-9]{1,14})(?:[-_./: +@]+(?:[vr]?[0-9]{1,14}[a-z]{0,2}"
    rb"|[A-Za-z]{1,24}[0-9]{0,2}))*$"
)
# Slugs are cut to 200 bytes first, so the star above is bounded.
NAMED_VALUE = later(rb"[A-Za-z_][A-Za-z_-]{1,40}=[^=]")
# So an environment or an argument gives a value with its name.
TIME = later(rb"\d{4}-\d\d-\d\d(?:[T ]|$)|\d{1,2}:\d\d(?::\d\d)?$")
VERSION = later(rb"[\^~<>=]{1,2} ?v?[0-9]{1,4}(?:\.[0-9x*]{1,6}){0,3}(?:[-+][\w.-]{1,40})?$")
"""Which versions of a package will do."""
NAME_OF_CODE = later(
    rb"(?:(?:[A-Za-z_]\w{0,60}\.){1,4}[A-Za-z_]\w{2,60}|[A-Za-z_]{3,60})(?:Key|Token|Secret|Exception"
    rb"|Error|Type|Signer|Presigner|Provider|Manager|Factory|Parser|Client|Config)s?(?:[.(,;:]|$)"
)
"""How classes are called, with their modules; no machine makes such an end."""
NUMBER = later(
    rb"[-+]?[0-9][0-9_,.]{0,30}(?:[eE][-+]?[0-9]+|[kKMGTsmhdx%]|[mun]s|px|em|rem|[mk]?[VAW]|[kMG]?Hz)?\|?$|0x[0-9a-fA-F]{1,16}$"
)
WILD = later(rb"[^\s()\[\]{}\"'`<>$]{8,400}")
ESCAPES = later(rb"(?:\\\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3}|[nrt0])){1,80}")
# What a vendor puts before its tokens: sk-…
BRAND = later(rb"^[a-z]{2,4}[-_]")
BASE64 = later(rb"[A-Za-z0-9+/]{32,200}={0,2}$")
HUMP = later(rb"[A-Z][a-z]{3,20}")
IDEOGRAPHS = later(rb"[\xe0-\xef]")
# A hash with its name, a name of a resource of Amazon's, a version of a secret, what other rules
# read line by line, what was sealed for one cluster, a place on a page of its name.
LABEL = later(
    rb"(?:sha(?:1|224|256|384|512)|md5|crc32c?)[-:=]|arn:aws|[a-z0-9-]{1,80}:(?:latest|[0-9]{1,3})$"
    rb"|-----BEGIN |Ag[A-D][A-Za-z0-9+/]{120}|([\w.]{2,60})#[a-z]{2,12}-\1$"
)
PUBLIC_KEY = (b"AAAAB3NzaC1", b"AAAAC3NzaC1", b"AAAAE2VjZHNh", b"MIIBIj")
STRUCTURE = later(rb"(?:\[\s{0,8})?\{\s{0,40}\\{0,8}[\"'][^\"'\\\n]{1,80}\\{0,8}[\"']\s{0,8}:")

# What shortens words so that their pairs are odd: passwdFld, cfgKeyStr.
OF_A_NAME = later(rb"pass|pwd|psw|key|tok|secret|cred|str|cfg|abc|qwert|xxx")
APP_PASSWORD = later(rb"[a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4}$")

KIND = bytes.maketrans(
    bytes(range(256)),
    bytes(
        3 if 48 <= c <= 57 else 2 if 65 <= c <= 90 else 1 if 97 <= c <= 122 else 0
        for c in range(256)
    ),
)
NO_LETTERS = bytes(c for c in range(256) if KIND[c] not in (1, 2))


@lru_cache(maxsize=1)
def _usual_pairs() -> frozenset[bytes]:
    rows = rules.words("values", "pairs")
    return frozenset(row[:1] + bytes([after]) for row in rows for after in row[1:])


def letters(value: bytes) -> bytes:
    """The letters of a value, without its signs and digits."""
    return value.translate(None, NO_LETTERS)


def is_jumble(value: bytes) -> bool:
    """Letters in an order that no language and no name in code has."""
    low = value.lower()
    if len(low) < 8 or not (low.isascii() and low.isalpha()) or OF_A_NAME.search(low):
        return False
    odd = sum(low[at : at + 2] not in _usual_pairs() for at in range(len(low) - 1))
    return odd >= max(4, (len(low) - 1) / 3)


@lru_cache(maxsize=1)
def _lists() -> tuple[frozenset[bytes], re.Pattern[bytes]]:
    return rules.words("values", "placeholder"), rules.expression("values", "inside")


def is_wild(value: bytes) -> bool:
    """A run of letters, digits and signs that no language and no path gives."""
    kinds = set(value.translate(KIND))
    if len(value) < 8 or len(kinds - {0}) < 2 or not WILD.fullmatch(value):
        return False
    if 3 in kinds:
        return turns(value) * 4 >= len(value) or (
            0 in kinds and turns(value) * 6 >= len(value) >= 12
        )
    return is_mixed(value)


def is_mixed(value: bytes) -> bool:
    """Capitals and small letters without the order of words."""
    kinds = value.translate(KIND)
    capitals, letters = kinds.count(2), kinds.count(1) + kinds.count(2)
    return letters >= 8 and capitals * 20 >= letters * 7 and turns(value) * 3 >= len(value)


def is_placeholder(value: bytes) -> bool:
    """An example, a mask or a word that stands for the secret."""
    whole, inside = _lists()
    low = value[:400].lower().strip(b"'\"` ")
    if not low or low.rstrip(b".,;:!?)") in whole or len(set(low)) <= 2:
        return True
    return inside.search(low) is not None


def is_reference(value: bytes, *, quoted: bool) -> bool:
    """Code, a variable, a type, a path or a plain URL rather than a value.

    So is a whole object in JSON: its members are read by their own names.
    """
    value = value[:400]
    if LABEL.match(value) or FILE.match(value):
        return True
    if not quoted and NAME_OF_CODE.match(value):
        return True
    if not quoted and (is_wild(value) or SIGNED.match(value)):
        return False
    if quoted:
        return bool(
            value[:2] in (b"${", b"$(", b"{{", b"<%", b"#{", b"%(")
            or (
                value[:1] in b"$<{"
                and re.match(rb"\$[A-Za-z_]\w{0,60}$|<[^>]{1,80}>$|\{[\w.:!]{0,60}\}$", value)
            )
            or (b"{" in value and re.search(rb"\$\{|\{[a-z_.]{2,40}\}", value))
            or re.match(rb"(?:%(?:\([\w]{1,40}\))?[sdr][:/@.-]?){1,4}$|%[A-Z_]{2,40}%$", value)
            or (PATH.match(value) and not is_base64(value))
            or URL.match(value)
            or STRUCTURE.match(value)
        )
    return bool(
        CODE.match(value)
        or REFERENCE.match(value)
        or TYPES.match(value)
        or PATH.match(value)
        or URL.match(value)
        or TIME.match(value)
    )


def is_base64(value: bytes) -> bool:
    """A key that begins with one of the signs of base64, as a path does."""
    return (
        value[:1] == b"/"
        and BASE64.match(value) is not None
        and set(value.translate(KIND)) >= {1, 2, 3}
        and turns(value) * 3 >= len(value)
    )


def turns(value: bytes) -> int:
    """How often small letters, capitals and digits follow one another directly."""
    kinds = value.translate(KIND)
    return sum(1 for a, b in itertools.pairwise(kinds) if a != b and a and b)


def classes(value: bytes) -> int:
    """How many of small letters, capitals, digits and signs a value has."""
    kinds = set(value.translate(KIND))
    return len(kinds)


def is_camel(value: bytes) -> bool:
    """A name of code whose words begin with capitals, with few other signs: Crc16BuypassTable."""
    words = HUMP.findall(value[:100])
    return len(words) > 1 and sum(map(len, words)) * 10 >= len(value) * 7


RESOURCE = later(
    rb"(?:ami|vpc|subnet|sgr?|i|eni|vol|snap|rtb|igw|nat|acl|eipalloc|lt|fs|pl)-[0-9a-f]{8}(?:[0-9a-f]{9})?"
)
"""What Amazon calls a machine, an image, a network."""


def is_token(value: bytes, least: int = 8, *, hard: bool = False) -> bool:
    """A value that was made by a machine: digits and letters without the order of words."""
    value = value[:300]
    if len(value) < least or is_placeholder(value) or value.startswith(PUBLIC_KEY):
        return False
    if RESOURCE.fullmatch(value):
        return False
    kinds = set(value.translate(KIND))
    distinct = len(set(value))
    if distinct < min(6, max(4, len(value) // 3)) or NUMBER.match(value) or TIME.match(value):
        return False
    if not (kinds & {1, 2}):
        return False
    if UUID.fullmatch(value):
        return True
    if b"\\x" in value or b"\\u" in value or is_camel(value):
        return False
    enough = 12 if len(kinds) > 1 else 16
    if 3 not in kinds and not hard and len(value) >= enough and is_jumble(BRAND.sub(b"", value)):
        return True
    if is_slug(value):
        return False
    if 3 not in kinds:
        if hard or kinds <= {1, 0} or kinds <= {2, 0}:
            return False
        return len(value) >= 16 and turns(value) * 4 >= len(value)
    if HEX.fullmatch(value):
        return len(value) >= (24 if hard else 12)
    changes = turns(value)
    if hard:
        return len(value) >= 16 and changes * 5 >= len(value) and changes >= 4
    return changes * 8 >= len(value) and changes >= 2


SEPARATORS = later(rb"[-_./: +@]+")


def is_slug(value: bytes) -> bool:
    """Words and numbers joined by signs; none of them is a run of letters that no word has."""
    value = value[:200]
    return SLUG.match(value) is not None and not any(map(is_mixed, SEPARATORS.split(value)))


PASSPHRASE = later(rb"[a-z]{2,24}(?:[-_.][a-z]{2,24}){0,5}[-_.]?[0-9]{1,6}$")
TERMS = frozenset(
    b"aes char chars check confirm current change changed code default email entry env error field"
    b" crc file fix flow forgot form group hash hashed hint id input invalid item key label length"
    b" level line link login max min missing mode name new no number old option page part"
    b" password phase policy prompt ref required reset retry row rule salt scram section set size"
    b" slot status step strength task test text token type update user valid value var version"
    b" view weak word".split()
)
"""Words of what is said about passwords, and of the names that programs give."""


def is_passphrase(value: bytes) -> bool:
    """Two words or more and a number that somebody joined: `sunshine-rain4`, `maple-2019`."""
    words = re.findall(rb"[a-z]+", value)
    is_joined = len(words) > 1 or re.search(rb"[-_.][0-9]{4,6}$", value) is not None
    return (
        is_joined
        and PASSPHRASE.match(value) is not None
        and TERMS.isdisjoint(words)
        and not is_placeholder(value)
    )


CHOSEN = later(
    rb"[!@#$%^&*]{0,2}[A-Za-z][A-Za-z0-9@$!]{2,24}(?:[-_.@!#$%^&*+]{1,2}[A-Za-z0-9@$!]{1,24}){0,3}"
    rb"(?:(?<=[0-9])[!@#$%^&*?]{1,3}|(?<=[0-9]{2}))$"
)
PLAIN = later(rb"[a-z]{4,24}[0-9]{3,6}$")
BY_NAME = later(
    rb"(?:^|[^a-z])(?:sha|md|aes|rsa|des|pbkdf|hmac|scram|utf|base|rfc|iso|tls|ssl|ed|argon|pkcs|o?auth"
    rb"|http|cve|crc|python|win(?:dows)?|ipv|web|gpt|log|cp|latin|v|rev|draft|x)[-_ ]?[0-9]"
    rb"|\.[a-z]{2}|@[a-z]{2,30}$|secret|token"
)
"""What has figures in its name: algorithms, standards, versions, members, accounts."""


def is_chosen(value: bytes, *, plain: bool = False) -> bool:
    """Words with a capital or a sign that end in figures, as people make passwords.

    Or one plain word with three figures or more.
    """
    if len(value) < 8 or is_placeholder(value) or BY_NAME.search(low := value.lower()):
        return False
    if not TERMS.isdisjoint(re.findall(rb"[a-z]+", low)):
        return False
    is_made = CHOSEN.match(value) and not set(value).isdisjoint(UNUSUAL)
    return bool(is_made or (plain and PLAIN.match(value)))


EXCLAIMED = later(rb"[A-Z][a-z]{4,20}[!@#$]$")
EXCLAMATIONS = frozenset(
    b"password passwords required mandatory incorrect invalid missing mismatch forgotten changed"
    b" updated success successful failed failure unknown accepted rejected expired protected"
    b" generated copied hidden welcome warning attention please passwort".split()
)
"""What is said of a password with such a sign."""
UNUSUAL = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ!@#$%^&*+")
"""What sets such a password apart from a name in code."""


def is_password(value: bytes, *, quoted: bool, certain: bool) -> bool:
    """A value a person chose, under a key that says so.

    Certain is the place: an environment line or a command's flag, where a plain word counts too.
    """
    value = value[:300]
    least = 3 if certain else 5
    if len(value) < least or is_placeholder(value) or ESCAPES.fullmatch(value):
        return False
    kinds = set(value.translate(KIND))
    if VERSION.match(value):
        return False
    if NUMBER.match(value):
        return len(value) >= 6 and (certain or quoted)
    if not certain and not kinds & {1, 2} and IDEOGRAPHS.search(value):
        return False
    if b" " in value:
        if APP_PASSWORD.match(value):
            return is_jumble(value.replace(b" ", b""))
        return (
            quoted
            and 3 in kinds
            and 0 in kinds
            and len(value) <= 60
            and value.count(b" ") <= 5
            and bool(re.search(rb"[^\w\s.,:;!?'()/-]", value))
            and classes(value) >= 4
        )
    if certain or (len(value) >= 8 and is_mixed(value)):
        return True
    if EXCLAIMED.match(value) and len(value) >= 8 and TERMS.isdisjoint((value[:-1].lower(),)):
        return value[:-1].lower() not in EXCLAMATIONS
    if WORD.match(value):
        # Two capitals apart, as in "SunsetRiverMoon": not in prose, often in names of classes.
        return is_jumble(value.rstrip(b";,.:!?"))
    if 3 in kinds or kinds >= {0, 1, 2}:
        if is_slug(value) and not (3 in kinds and 2 in kinds) and b"@" not in value:
            return quoted and bool(re.match(rb"[a-z]{4,24}[0-9]{2,6}$", value))
        return True
    return bool(set(value) & set(b"!@#$%^&*?~+=")) and kinds >= {0, 1}
