"""Tells whether what a database is given only asks: SQL, a prompt's own commands, Redis …"""

from __future__ import annotations

from forsy_retrace.patterns import later

_ASKS = later(
    r"(?i)\s*(?:\(\s*){0,4}(?:select|show|explain|describe|desc|pragma|with|values|table|help)\b"
    r"|\s*(?:h?get|hgetall|mget|keys|scan|lrange|llen|smembers|zrange|ttl|type|info|exists|dbsize)\b"
    r"|\s*\\(?:[dlz]\w{0,8}[+S]{0,2}|s[fv]\+?|[h?]|conninfo)(?:\s|;|$)"
    r"|\s*\.(?:tables|schema|fullschema|databases|indexes|indices|dump|show|help)\b"
    r"|\s*db\.[\w.]{1,80}\.(?:find|findOne|count|countDocuments|aggregate)\("
)
_CHANGES = later(
    r"(?i)\b(?:insert|update|delete|merge|replace|truncate|drop|alter|create|grant|revoke)\b(?!\s*\()"
    r"|\binto\b|^\s*pragma\b[^=]{1,200}=|\$(?:out|merge)\b"
    r"|\b(?:nextval|setval|pg_terminate_backend|pg_cancel_backend|pg_reload_conf|lo_unlink)\s*\("
)
"""What a query may do besides asking; a column of such a name makes a question look like work."""
_QUOTED = later(r"'(?:[^']|'')*+'|\"[^\"]*+\"|--[^\n]*")


def asks(text: str) -> bool:
    """Whether all of a text only asks; no, where in doubt."""
    bare = _QUOTED.sub(lambda found: "" if found[0].startswith("--") else "''", text)
    said = [part for part in bare.split(";") if part.strip()]
    return bool(said) and all(_ASKS.match(part) and not _CHANGES.search(part) for part in said)
