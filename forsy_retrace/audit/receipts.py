"""Receipts: what a harness prints when a call worked and there is nothing to tell."""

from forsy_retrace.patterns import later

RECEIPTS = (
    later(r"\A(?:The )?[Ff]ile (?:\S+ )?(?:has been |was )?(?:created|updated|written)\b"),
    later(r"\A(?:Successfully )?(?:[Ww]rote|[Cc]reated|[Uu]pdated|[Ee]dited|[Ss]aved) \S+"),
    later(r"\A(?:Exit code: 0\s(?:[^\n]*\n)*)?Success\. Updated the following files:"),
    later(r"\ATodos have been modified successfully"),
    later(r"\A(?:Updated task|Task #?\d+ (?:created|updated))"),
    later(r"\APlan updated"),
)
"""How such an output begins."""
WORDS = (
    "a all an and applied been change changed changes content contents created done edit edited"
    " file files following has have in is it list made modified new now ok patch plan replaced"
    " saved success successful successfully task tasks text the to todo todos updated was were"
    " write written wrote"
)
"""All that can be said of it in other words."""
LONGEST = 200
WORD = later(r"[\w./~-]*\w")


def is_receipt(claim: str, log: str) -> bool:
    """Whether the claim tells a receipt in the words of receipts, or in its own."""
    if len(claim) > LONGEST or not any(one.match(log.strip()) for one in RECEIPTS):
        return False
    shown = {*WORDS.split(), *WORD.findall(log.lower())}
    return all(
        word in shown or any(path.endswith(f"/{word}") for path in shown)
        for word in WORD.findall(claim.lower())
    )
