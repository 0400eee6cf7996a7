"""What stands for something else in a text: placeholders, marks of a cut, words of failure."""

from forsy_retrace.patterns import later

MASKS: tuple[tuple[str, int], ...] = (
    ("PERSON|NAME|FULL_NAME", 5),
    ("TERM|ORG|COMPANY|ADDRESS|PHONE", 12),
    ("CREDENTIALS?|SECRET|TOKEN|API_?KEY|KEY|PASSWORD|PRIVATE_KEY", 1),
    ("EMAIL|USER|USERNAME|INTERNAL_URL|URL|HOST|IP|CUSTOMER|CUSTOMER_ID|ACCOUNT|ID|PATH|HOME", 1),
    ("REDACTED|MASKED|HIDDEN|PRIVATE|PII", 5),
)
"""Words of a placeholder, and how many words it may stand for."""
PLACEHOLDER = later(
    r"[\[<](?:" + "|".join(words for words, _ in MASKS) + r")(?:[_-][0-9]{1,9})?[\]>]|\*{3,}|█{2,}"
)
LONGEST_MASKED = 4000
BAD_NEWS = later(
    r"(?mi)^[^\w\n]{0,40}(?:error|fatal|panic|traceback)\b(?!\W{0,3}:\s?(?:\"\"|null|false|0))"
    r"|\b[1-9][0-9]{0,8} (?:tests? )?(?:fail\w*|errors?)\b|\bfailed:|(?-i:\bFAILED\b)|\bnot ok\b"
    r"|\b(?:exit(?:ed with)?|code|status)(?: code)?:? [1-9]|[✗✘×]"
)
"""What speaks of a failure in a tool's own output; `0 failed` does not."""
FAILING = later(r"(?i)\b(?:fail|error|denied|exception|traceback|reject|abort|fatal)")
"""What no mask may stand for: a failure is never private."""

LEFT_OUT = (
    r"(?:omitted|truncated|elided|shortened|trimmed|snip(?:ped)?|abridged|excerpt|not shown"
    r"|(?:more|other|remaining|skipped) (?:lines?|output)|lines? (?:more|skipped|cut))"
)
MARKS = later(
    rf"[\[(<{{][^\[\](){{}}<>\n]{{0,300}}\b{LEFT_OUT}\b[^\[\](){{}}<>\n]{{0,300}}[\])>}}]"
    r"|\[…\]|\[\.\.\.\]|…|\.{3,}"
)
"""What says that something was left out here."""
