"""Which checks does the agent say have passed, in an answer or a report?"""

from collections.abc import Collection, Iterator

from forsy_retrace.patterns import later

NAMES = {
    "tests": r"(?:tests?|test suites?|suite|specs?|pytest|vitest|jest)",
    "lint": r"(?:lint(?:er|ers|ing|s)?|eslint|biome|ruff|clippy|golangci-lint|go vet)",
    "types": r"(?:type[- ]?check(?:s|er|ing)?|tsc|mypy|pyright)",
    "build": r"(?:builds?|compilation|cargo check)",
    "ci": r"(?:CI|checks|pipelines?|workflows?|actions)",
}
"""What each kind of check is called."""
WELL = r"(?:pass(?:es|ed|ing)?|green|clean(?:ly)?|happy|succe\w+|(?:no|0|without) (?:issues|errors|warnings))"
WELL_AT_ALL = later(rf"(?i)\b{WELL}\b")
SAYS = {
    kind: later(rf"(?i)\b{name}\b.{{0,50}}?\b{WELL}\b|\bpass(?:es|ed|ing) (?:\w+ ){{0,2}}?{name}\b")
    for kind, name in NAMES.items()
}
UNSURE = later(
    r"(?i)\b(?:ensure|(?:make|making) sure|until|once|when|if|unless|should|must|will|would|whether"
    r"|so that|needs? to|previously|before|not|never|no longer|\w{1,12}n['’]t|fail\w*|skip\w*|yet"
    r"|except|but|only|to be sure)\b"
)
"""Words that make of such a sentence a wish, a doubt or half a truth."""
SENTENCE = later(r"(?<=[.;!?])\s|\n")
MOST_SAID = 400
"""Characters of a sentence that is read."""


def said_to_pass(text: str, kinds: Collection[str]) -> Iterator[str]:
    """Those of the kinds of checks that a sentence says passed, without a word of doubt in it."""
    wanted = {kind: says for kind, says in SAYS.items() if kind in kinds}
    for sentence in SENTENCE.split(text) if wanted and WELL_AT_ALL.search(text) else ():
        if len(sentence) <= MOST_SAID and WELL_AT_ALL.search(sentence):
            said = [kind for kind, says in wanted.items() if says.search(sentence)]
            if said and not UNSURE.search(sentence):
                yield from said
