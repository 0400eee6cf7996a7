"""Whether a shell asks for more of a command. Its prompt `> ` does not tell: R's is the same."""

from forsy_retrace.sdk import later

from .._shell import is_unfinished

SECOND = later(
    r"(?:(?:for|while|until|repeat|select|case|if|then|else|elif|do|function|quote|dquote|bquote"
    r"|heredoc|pipe|cmdand|cmdor|cmdsubst|subsh|cursh|array|math|braceparam) ?){0,4}>(?: |$)"
)
"""bash's `> `, zsh's `for> `."""


def gone_on(command: str, line: str) -> str | None:
    """The command with a line that continues it; None where it does not."""
    second = SECOND.match(line)
    if second is None or not is_unfinished(command):
        return None
    return f"{command}\n{line[second.end() :]}"
