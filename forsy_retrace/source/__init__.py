"""The only package that opens a log: records with byte offsets, and the companions beside it.

A record is one JSON value: a line, an element of an array, or one of several values on a line. An
object behind the prefix of another program's log holds the prefix's time too, as `logged_at`; one
behind the `data:` of a stream as a server sent it is read alone.
A text log has lines instead, and forms that read one or several of them as an entry. Lines are
split at `\\n` only. Offsets count bytes of the file; of a gzip, zstd or UTF-16 file, those of its
decoded UTF-8 text. Arrays and pages are read one element at a time. A SQLite database reads as one
JSON object a row, behind one that names its tables and their columns; a Parquet file (extra
`parquet`) as one a row; a ttyrec as a line a frame.
"""

from forsy_retrace.evidence import Evidence

from .below import A_TRACE, below, discover
from .cast import frames, seconds
from .forms import FORMS, OF_JSON, Line, attached, entry, reread
from .log import BESIDE, Source, Unread, is_regular
from .plain import plain
from .remote import RemoteSource, file_system, is_remote, on_disk, remote_files
from .repaired import repaired
from .screen import has_screen, screen
from .unpack import MAX_RATIO, MAX_UNPACKED, PACKED, is_sealed, text_in
from .values import MAX_DEPTH, MAX_LINE, Problem, Record, decode
from .views import unescaped

__all__ = [
    "A_TRACE",
    "BESIDE",
    "FORMS",
    "MAX_DEPTH",
    "MAX_LINE",
    "MAX_RATIO",
    "MAX_UNPACKED",
    "OF_JSON",
    "PACKED",
    "Evidence",
    "Line",
    "Problem",
    "Record",
    "RemoteSource",
    "Source",
    "Unread",
    "attached",
    "below",
    "decode",
    "discover",
    "entry",
    "file_system",
    "frames",
    "has_screen",
    "is_regular",
    "is_remote",
    "is_sealed",
    "on_disk",
    "plain",
    "remote_files",
    "repaired",
    "reread",
    "screen",
    "seconds",
    "text_in",
    "unescaped",
]
