"""Which values of a text are distinctive: long tokens, their parts, and names that somebody coined."""

import posixpath
from collections.abc import Iterator
from functools import lru_cache

from forsy_retrace.patterns import later
from forsy_retrace.trace import long_tokens

SHORTEST = 12
WORD = later(rf"[A-Za-z_$][\w$]{{{SHORTEST - 1},}}")
HEX = later(rf"0[xX]([0-9A-Fa-f]{{{SHORTEST},}})")
"""A number in hexadecimal digits, which many programs print without the mark before them."""


PLAIN = later(r"[A-Za-z]+(?:['-][A-Za-z]+)*")


BUILT_IN = later(
    r"(?:std|core|alloc)::[\w:]+|os\.(?:path|environ)\.\w+|process\.(?:env|argv|stdout|stderr)\.\w+"
    r"|(?:Array|Object|JSON|Math|Number|Promise|Reflect|String|Symbol|console)\.[a-z]\w*"
    r"|(?:assert|bufio|bytes|cmp|context|errors|exec|filepath|flag|fmt|fs|http|io|json|log|maps|math|os"
    r"|path|rand|reflect|require|regexp|runtime|signal|slices|slog|sort|strconv|strings|sync|syscall|testing|time"
    r"|unicode|url|utf8)\.[A-Z]\w*"
    r"|to(?:Locale|ISO|UTC|Date|Time)(?:Lower|Upper|Date|Time)?(?:Case|String)|localeCompare"
    r"|(?:add|remove)EventListener|querySelector(?:All)?|getElementById|getElementsBy\w+"
    r"|(?:create|append|remove)(?:Element|Child)|preventDefault|stopPropagation"
    r"|(?:get|set|has|remove)Attribute|(?:has|get)OwnProperty\w*|(?:en|de)codeURI(?:Component)?"
    r"|(?:local|session)Storage|requestAnimationFrame|getBoundingClientRect|scrollIntoView"
    r"|structuredClone|XMLHttpRequest|AbortController|clear(?:Timeout|Interval|Immediate)|setImmediate"
    r"|queueMicrotask|e(?:v|vent)?\.(?:current)?[tT]arget\.\w+|[\w.]+\.(?:preventDefault|stopPropagation)"
    # Events, files, streams and watchers of a browser.
    r"|(?:Animation|Clipboard|Composition|Custom|Keyboard|Message|Mouse|Pointer|PopState|Progress"
    r"|Promise|Storage|Touch|Transition|Wheel)(?:Rejection)?Event|(?:Intersection|Mutation|Performance|Resize)Observer"
    r"|FileSystem(?:File|Directory|Sync\w*)?Handle|show(?:Directory|OpenFile|SaveFile)Picker|lastModified"
    r"|(?:create|revoke)ObjectURL|(?:Readable|Transform|Writable)Stream|(?:Big)?(?:Uint|Int|Float)\d+(?:Clamped)?Array"
    r"|IDB[A-Z]\w+|aria-[a-z]+|contentEditable|textContent|innerHTML|dangerouslySetInnerHTML"
    # React's, and those of the tools that test and build beside it.
    r"|(?:React\.)?(?:use(?:LayoutEffect|ImperativeHandle|DeferredValue|SyncExternalStore|Transition)"
    r"|createContext|createElement|forwardRef)|toHaveBeen\w+|toStrictEqual|to(?:Match|Throw)\w*Snapshot"
    r"|mock(?:Resolved|Rejected|Return)Value(?:Once)?|mockImplementation(?:Once)?|defineConfig"
    # Errors and warnings that Python and JavaScript raise.
    r"|(?:Assertion|Attribute|BrokenPipe|(?:subprocess\.)?CalledProcess|(?:json\.)?JSONDecode|Connection(?:Aborted|Refused|Reset)?|FileExists|FileNotFound|Indentation"
    r"|Interrupted|IsADirectory|ModuleNotFound|NotADirectory|NotImplemented|Permission|Recursion|Reference|Runtime"
    r"|Timeout|Unicode(?:Decode|Encode)?|UnboundLocal|ZeroDivision)Error|(?:Deprecation|Resource|Runtime|User)Warning"
    r"|KeyboardInterrupt|StopIteration"
    # Tailwind's classes for colours.
    r"|(?:[a-z-]+:)*(?:text|bg|border|ring|from|via|to|fill|stroke|divide|outline|accent|placeholder)"
    r"-(?:slate|gray|zinc|neutral|stone|red|orange|amber|yellow|lime|green|emerald|teal|cyan|sky|blue"
    r"|indigo|violet|purple|fuchsia|pink|rose)-\d{2,3}(?:/\d{1,3})?"
    # Its classes for how boxes lie.
    r"|(?:[a-z]+:)*(?:justify|items|content|self|place-items)-(?:start|end|center|between|around|evenly|stretch|baseline)"
    r"|(?:[\w.]+\.)?(?:unwrap_or_(?:else|default)|split_whitespace|is_ascii_\w+|create_dir_all|remove_dir_all"
    r"|read_to_string|to_string_lossy|from_utf8_lossy|eq_ignore_ascii_case|strip_(?:pre|suf)fix|canonicalize"
    r"|saturating_\w+|wrapping_\w+|checked_\w+|set_current_dir|spawn_blocking)"
    r"|(?:Arc|BTreeMap|Box|Command|Duration|HashMap|HashSet|Instant|Mutex|Path|PathBuf|RefCell|String"
    r"|SystemTime|Vec|anyhow|chrono|clap|serde|serde_json|tokio|tracing)::[\w:]+"
    r"|module\.exports|node:[a-z_/]+|child_process|worker_threads|backgroundColor"
    r"|(?:client|offset|scroll)(?:Height|Left|Top|Width)"
    r"|Access-Control-[\w-]+|X-Forwarded-\w+|(?:application|image|text|video)/(?:x-|vnd\.)[\w.+-]+"
    r"|importlib\.[a-z]+|xml\.etree(?:\.\w+)?|https?://www\.w3\.org/[\w./#-]*"
    r"|(?:Application|DateTime|DynamicSupervisor|Enum|Exception|File|GenServer|IO|Keyword|List|Logger"
    r"|Map|NaiveDateTime|Path|Process|Regex|Registry|Stream|Supervisor|System|Task)\.[a-z]\w*[?!]?"
    r"|ets\.[a-z]\w*|stderr_to_stdout"
)
"""Names that Rust, C++, Python, JavaScript, a browser, React, Tailwind, Go and Elixir bring along."""


MEMBER = later(
    r"(?:(?P<owner>[\w$.]+)\.)?(?:"
    # JavaScript's.
    r"length|size|push|pop|shift|unshift|map|filter|reduce|reduceRight|forEach|find(?:Last)?(?:Index)?"
    r"|some|every|includes|(?:lastI|i)ndexOf|join|slice|splice|concat|flat|flatMap|fill|sort|reverse"
    r"|keys|values|entries|trim(?:Start|End)?|split|replace(?:All)?|(?:starts|ends)With|pad(?:Start|End)"
    r"|repeat|char(?:Code)?At|codePointAt|substr(?:ing)?|toString|toFixed|valueOf|match(?:All)?"
    r"|then|catch|finally|call|apply|bind|has|get|set|add|delete|clear|constructor|prototype"
    # Python's.
    r"|append|extend|insert|items|strip|[lr]strip|splitlines|(?:starts|ends)with|format|encode|decode"
    r"|lower|upper|title|capitalize|popitem|setdefault|update|copy|count|index|remove|is(?:digit|alpha|alnum)"
    r"|read_(?:text|bytes)|write_(?:text|bytes)|with_suffix|is_(?:file|dir)|iterdir|joinpath"
    # Rust's.
    r"|clone|unwrap|expect|is_(?:some|none|ok|err|empty)|to_(?:string|owned|vec|path_buf)|as_(?:str|ref|mut)"
    r"|iter|iter_mut|into_iter|collect|push_str"
    # Go's: of tests, commands, builders, locks and patterns.
    r"|Parallel|Helper|Fatalf?|Errorf?|Logf|Skipf?|Cleanup|TempDir|Setenv|FailNow"
    r"|CombinedOutput|Std(?:in|out|err)Pipe|ExitCode|Write(?:String|Byte|Rune)|String|R?(?:Unl|L)ock"
    r"|MatchString|Find(?:All)?String(?:Submatch|Index)*|ReplaceAllString(?:Func)?"
    r")"
)
"""What a value of a language has, behind whatever its owner is called: `receipts.length`."""


KNOWN = frozenset(
    [
        # Go's own packages of some length.
        "compress/bzip2", "compress/flate", "compress/gzip", "compress/zlib", "container/heap",
        "container/list", "crypto/ecdsa", "crypto/ed25519", "crypto/hmac", "crypto/rand", "crypto/sha1",
        "crypto/sha256", "crypto/sha512", "crypto/subtle", "crypto/x509", "database/sql", "debug/buildinfo",
        "encoding/ascii85", "encoding/base32", "encoding/base64", "encoding/binary", "encoding/csv",
        "encoding/gob", "encoding/hex", "encoding/json", "encoding/pem", "encoding/xml", "html/template",
        "math/rand/v2", "mime/multipart", "mime/quotedprintable", "net/http/cookiejar", "net/http/httptest",
        "net/http/httputil", "net/http/pprof", "net/textproto", "path/filepath", "regexp/syntax",
        "runtime/debug", "runtime/metrics", "runtime/pprof", "runtime/trace", "testing/fstest",
        "testing/iotest", "testing/quick", "testing/slogtest", "text/tabwriter", "text/template",
        "text/template/parse", "unicode/utf16", "unicode/utf8",
        # Python's.
        "collections.abc", "concurrent.futures", "logging.config", "logging.handlers", "unittest.mock",
        "urllib.error", "urllib.parse", "urllib.request",
        # HTTP's and Git's headers, and media types.
        "Accept-Encoding", "Accept-Language", "Accept-Ranges", "Cache-Control", "Co-Authored-By",
        "Co-authored-by", "Content-Disposition", "Content-Encoding", "Content-Length",
        "Content-Security-Policy", "Content-Type", "If-Modified-Since", "If-None-Match", "Last-Modified",
        "Set-Cookie", "Signed-off-by", "Transfer-Encoding", "WWW-Authenticate", "X-Requested-With",
        "application/gzip", "application/javascript", "application/json", "application/ld+json",
        "application/octet-stream", "application/pdf", "application/xml", "application/zip", "image/svg+xml",
        "multipart/form-data", "text/event-stream", "text/javascript", "text/markdown",
        # Files and folders that stand under these names in any project.
        ".dockerignore", ".editorconfig", ".eslintignore", ".gitattributes", ".npmignore", ".prettierignore",
        ".prettierrc", ".pytest_cache", "__pycache__", "bower_components", "composer.json", "composer.lock",
        "dist-packages", "docker-compose.yml", "gitattributes", "node_modules", "npm-shrinkwrap.json",
        "package-lock.json", "package.json", "pnpm-lock.yaml", "pyproject.toml", "pytest_cache",
        "requirements.txt", "site-packages", "tsconfig.json",
    ]
)  # fmt: skip
"""Names of Go's and Python's libraries, of HTTP and of Git, and of files, to the letter."""


EITHER = later(
    r"{0}(?:/{0})+".format(
        "(?:added|after|before|changed|client|close|collapse|create|created|dark|delete|deleted|desktop"
        "|disable|disabled|enable|enabled|error|expand|export|failure|false|hide|import|input|insert|light"
        "|mobile|modified|new|old|open|output|private|public|read|remove|removed|request|response|server"
        "|show|start|stop|success|true|update|updated|warning|write)"
    )
)
"""Opposites, or what may be done to a thing, with a slash between them: no path."""


SILENCES = later(
    r"(?i)@?(?:nolint|noqa|nosec|nosemgrep)(?:[:-].*)?|@?ts-(?:ignore|expect-error|nocheck)"
    r"|(?:mypy|phpcs|phpstan|pyre|pyright|type):(?:ignore|disable)[\w-]*|@phpstan-ignore[\w-]*"
    r"|[a-z-]*lint[:-](?:disable|enable|ignore)[\w:-]*|(?:revive|rubocop):(?:disable|enable)[\w:-]*"
    r"|(?:biome|prettier)-ignore[\w-]*"
)
"""How a comment tells a linter or a type checker to be silent, each in its own words."""


NOBODY = later(r"(?i)no-?reply@[\w.-]+")
"""Whom no mail reaches: an address that stands in every trailer of a commit."""
HARNESS = later(r"(?:https?://)?(?:www\.)?claude\.(?:ai|com)/(?:claude-)?code(?:/docs)?/?")
"""The page of the harness, which it has its agent name in each commit and pull request."""
NAMES_OF_NONE = (BUILT_IN, EITHER, SILENCES, NOBODY, HARNESS)


def tells(value: str, *, alone: bool) -> bool:
    """Whether a value says where it may have come from.

    A name of a language's own library tells nothing, nor does a checker's word for silence, nor
    a word, nor several joined by hyphens unless they stand alone: in running words they are any
    text's. What each value of a language has tells no more than the value's name.
    """
    if is_anybodys(value):
        return False
    if member := MEMBER.fullmatch(value):
        owner = member["owner"] or ""
        return len(owner) >= SHORTEST and tells(owner, alone=alone)
    return PLAIN.fullmatch(value) is None or _is_identifier(value) or (alone and "-" in value)


@lru_cache(maxsize=1024)
def is_anybodys(value: str) -> bool:
    """Whether any text may have it: a name of a language, of any project, of the harness."""
    return value in KNOWN or any(one.fullmatch(value) for one in NAMES_OF_NONE)


def values(text: str) -> Iterator[str]:
    """The distinctive values of a text, in order; one that stands often comes often."""
    for token in long_tokens(text, SHORTEST):
        yield from parts(token)


def placed(text: str) -> dict[str, str]:
    """The long names of files that a text gives with a folder, each with that folder's name."""
    found: dict[str, str] = {}
    for token in long_tokens(text, SHORTEST):
        folder, slash, name = token.strip(".:-#/+%").rpartition("/")
        name = name.partition(":")[0]
        if slash and len(name) >= SHORTEST and posixpath.splitext(name)[1]:
            found.setdefault(name, folder.rpartition("/")[2])
    return found


def held_in(value: str) -> Iterator[str]:
    """What a longer value holds: of a path what it ends in and its folders, of a name its owners."""
    mark = "/" if "/" in value else "."
    parts = value.split(mark) if len(value) < LONGEST else [value]
    for at in range(1, len(parts)):
        yield mark.join(parts[at:]).strip("./")
        yield mark.join(parts[:at]).strip("./")


VERSION = later(r"[\w.-]+@v?\d[\w.+-]*")
"""A package with its version, as a part of a path: `cart-go@v1.9.0`."""


PLACED = later(r"([\w.-]{1,80}\.[A-Za-z]\w{0,9}):\d+(?::\d+)?")
"""A file with a line of it."""


REVISION = later(r"[\w.^~@-]{1,60}(?:/[\w.^~@-]{1,60}){0,8}")
"""What stands before the path of a file as it was at a commit: `4f1c2d9:till/cart.go`."""


def parts(token: str) -> Iterator[str]:
    """The values in one token."""
    value = token.strip(".:-#/+%")
    if len(value) < SHORTEST:
        return
    yield value
    if value.isidentifier():
        return  # it has no parts
    if value[0] == "0" and (digits := HEX.fullmatch(value)):
        yield digits[1]
    if "/" in value:
        path, _, rest = value.partition(":")
        if "/" in rest[1:] and rest[0] != "/" and REVISION.fullmatch(path):
            yield rest
        if path != value and "/" in path and len(path) >= SHORTEST:
            yield path
        name = value.rsplit("/", 1)[-1].split(":")[0]
        if len(name) >= SHORTEST:
            yield name
        for part in value.split("/") if "@" in value else ():
            if part not in (value, name) and len(part) >= SHORTEST and VERSION.fullmatch(part):
                yield part
    elif ":" in value and (placed := PLACED.fullmatch(value)):
        yield placed[1]
    for word in WORD.findall(value):
        if word != value and _is_identifier(word) and not BUILT_IN.fullmatch(value):
            yield word


LONGEST = 300
"""Letters of a module's path."""
MODULE = later(r"[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}(?=/)")


def folders(token: str) -> Iterator[str]:
    """The folders below its root that a module's path names: `shop.dev/till/cmd/cart`."""
    found = MODULE.match(token) if "/" in token and len(token) < LONGEST else None
    rest = token[found.end() :].strip(".:/") if found else ""
    while len(rest) >= SHORTEST and "/" in rest:
        yield rest
        rest = rest.partition("/")[2]


@lru_cache(maxsize=1024)
def is_camel(word: str) -> bool:
    """Mixed case beyond a capital at the start: `camelCase`, `PascalCase`, `Signed-Header`.

    Of words joined by hyphens, one in capitals alone (`API-dependent`) or with one at its start
    (`non-English`) makes no name.
    """
    if word.islower():
        return False
    mixed = [part for part in word.split("-") if part not in (part.upper(), part.lower())]
    return len(mixed) > 1 or any(part[1:] != part[1:].lower() for part in mixed)


DIGIT = later(r"\d")


def _is_identifier(word: str) -> bool:
    """A name that somebody coined: mixed case, an underscore or a digit."""
    return "_" in word or DIGIT.search(word) is not None or is_camel(word)
