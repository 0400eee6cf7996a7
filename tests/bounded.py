"""Patterns of rules: what re2 refuses is refused, and so is a repeat without an upper bound."""

import re

UNSAFE = re.compile(r"\(\?[=!<]|\(\?P=|\\[1-9]|(?<!\\)[*+](?!\])|\{\d+,\}|\)\{\d*,?\d{3,}\}")
IN_CLASS = re.compile(r"\[(?:\\.|[^\]\\])*\]")


def is_bounded(pattern: str) -> bool:
    """Whether no text can make a pattern take more than linear time."""
    return not UNSAFE.search(IN_CLASS.sub("[]", pattern).replace("\\+", "").replace("\\*", ""))
