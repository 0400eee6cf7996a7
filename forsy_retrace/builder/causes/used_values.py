"""What one actor's calls have said so far: what it used already needs no source."""

from collections.abc import Iterable
from itertools import chain

from forsy_retrace.trace import Step, Touch

from ..touched.paths import folders_above
from .distinctive import held_in
from .needles import Asked, Wanted, last_part, texts


class Used:
    """Values, paths and folders that an actor has used."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.values: set[str] = set()
        self.paths: dict[str, int] = {}
        """A path that was used, in whatever form, to the last step that did."""
        self.within: dict[str, int] = {}
        """What longer values that were used hold of wanted ones, to the last step that used them."""
        self.through: dict[str, int] = {}
        """The folders that used paths lead through, each whole and by its name, to the first step."""

    def __contains__(self, value: str) -> bool:
        return value in self.values or value in self.through

    def take(self, step: Step, asked: Asked, wrote: Iterable[Touch]) -> None:
        """Enters what a call says, and the files that it wrote."""
        assert step.call is not None
        self.values.update(asked.said, *map(self.wanted.idents.of, texts(step.call.input)))
        longer = (value for value in asked.said if "/" in value or "." in value)
        inside = chain.from_iterable(map(held_in, longer))
        self.within.update((one, step.step) for one in inside if one in self.wanted.values)
        paths = (*asked.paths, *asked.made, *(touch.path for touch in wrote))
        self.paths.update(dict.fromkeys(paths, step.step))
        for path in (*paths, *asked.said):
            for folder in folders_above(path):
                if folder in self.through:
                    break  # so are those above it
                self.through.setdefault(folder, step.step)
                self.through.setdefault(last_part(folder), step.step)
        self.values.update(part for path in paths for part in last_part(path).split("."))
