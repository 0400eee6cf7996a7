"""Whether a shell asks for more of a command. Its prompt `> ` does not tell: R's is the same."""

from forsy_retrace.sdk import later

from .._shell import open_quote

OPENERS = later(r"(?:^|[;&|({\n]\s*|\b(?:do|then|else)\s)(?:for|while|until|select|if|case)\b")
CLOSERS = later(r"(?:^|[;&|\n]\s*)(?:done|fi|esac)\b")
GOES_ON = later(r"(?:\\|\||&&|[({])\s*$")
DOCUMENT = later(r"<<-?\s*['\"]?(\w{1,40})")
SECOND = later(
    r"(?:(?:for|while|until|repeat|select|case|if|then|else|elif|do|function|quote|dquote|bquote"
    r"|heredoc|pipe|cmdand|cmdor|cmdsubst|subsh|cursh|array|math|braceparam) ?){0,4}>(?: |$)"
)
"""bash's `> `, zsh's `for> `."""


def is_unfinished(command: str) -> bool:
    """An open quote, block, pipe or here-document."""
    opened = len(OPENERS.findall(command)) - len(CLOSERS.findall(command))
    lines = [line.strip() for line in command.split("\n")[1:]]
    waits = any(word not in lines for word in DOCUMENT.findall(command))
    return bool(open_quote(command) or opened > 0 or waits or GOES_ON.search(command))


def gone_on(command: str, line: str) -> str | None:
    """The command with a line that continues it; None where it does not."""
    second = SECOND.match(line)
    if second is None or not is_unfinished(command):
        return None
    return f"{command}\n{line[second.end() :]}"
