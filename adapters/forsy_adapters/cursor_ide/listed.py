"""The messages that a conversation lists, in its order."""

from collections.abc import Iterator

from forsy_retrace.sdk import words

from .held import Json, Kept, Node, object_in


class Listed:
    """The messages of a conversation, in its order."""

    def __init__(self, chat: Node, stored: dict[str, Kept]) -> None:
        self.chat, self.stored = chat, stored
        self.lost = False
        """Whether it lists one that is not there."""

    def __iter__(self) -> Iterator[Node]:
        inline = self.chat.value.get("conversation")
        if isinstance(inline, list) and inline:
            for at, one in enumerate(inline):
                yield Node(object_in(one), self.chat.at("conversation", at))
            return
        for name, header in self._headers().items():
            yield from self._listed(name, header)

    def _headers(self) -> dict[str, Json]:
        """What is listed, by the names of messages."""
        listed = self.chat.value.get("fullConversationHeadersOnly")
        headers = map(object_in, listed if isinstance(listed, list) else ())
        found: dict[str, Json] = {}
        for one in headers:
            found.setdefault(words(one.get("bubbleId")), one)
        found.pop("", None)
        return found

    def is_stamped_at_once(self) -> bool:
        """Whether a human is said to have gone on in the moment of an earlier turn: all times are
        that of a load or an import then.
        """
        turn, before = set[str](), set[str]()
        for name in self._headers():
            kept = self.stored.get(name)
            asked = kept.asked if kept else ""
            if asked in before:
                return True
            if asked:
                turn.add(asked)
            elif kept:
                before |= turn
                turn = set[str]()
        return False

    def _listed(self, name: str, header: Json) -> Iterator[Node]:
        kept = self.stored.pop(name, None)
        node = kept.node() if kept else self.chat.below("conversationMap", name)
        if not kept and not node.value:
            self.lost = True
            return
        if object_in(header.get("grouping")).get("isSimulatedMsg") is True:
            node.value.setdefault("isSimulatedMsg", True)
        yield node
