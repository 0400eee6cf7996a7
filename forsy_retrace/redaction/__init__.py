"""Masks credentials, people, e-mail addresses, internal hosts and customer ids in text."""

from forsy_retrace.redaction.masker import Leak, Masker, mask

__all__ = ["Leak", "Masker", "mask"]
