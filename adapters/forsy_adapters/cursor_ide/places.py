"""Where a conversation's agent works, as the editor says it."""

from forsy_retrace.sdk import words
from forsy_retrace.source import Evidence

from .held import Node


def folder_of(node: Node) -> tuple[Evidence, str] | None:
    """The folder of the workspace of a conversation, and where it stands."""
    uri = ("workspaceIdentifier", "uri")
    folder = words(node.below(*uri).value.get("fsPath"))
    return (node.at(*uri, "fsPath"), folder) if folder else None


def branch_of(node: Node) -> tuple[Evidence, str] | None:
    """The branch at which a conversation began."""
    branch = words(node.value.get("createdOnBranch"))
    return (node.at("createdOnBranch"), branch) if branch else None
