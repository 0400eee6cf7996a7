"""The spans of a record: of OTLP in JSON, as an SDK prints each, as Langfuse exports them."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.sdk import words
from forsy_retrace.source import Record

from .langfuse import exported, sent
from .spans import Span, attributes, listed, place

RESOURCES = ("resourceSpans", "resource_spans")
SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
"""The last of them before OTLP 0.19."""
SPANS = ("spans",)
SCOPE = ("/scope/name", "/instrumentationLibrary/name")
SIGNALS = ("resourceLogs", "resource_logs", "resourceMetrics", "resource_metrics")


def spans(record: Record) -> Iterator[Span]:
    """The spans of a record, in its order."""
    match record.value:
        case {"context": {"trace_id": str(), "span_id": str()}, "attributes": dict()} as printed:
            service = _service(printed.get("resource"), "/resource")
            yield Span(record, "", printed, "", service, sent(attributes(printed, ""), printed, ""))
    for resource, at_resource in listed(record.value, RESOURCES, ""):
        service = _service(resource.get("resource"), at_resource + "/resource")
        for scope, at_scope in listed(resource, SCOPES, at_resource):
            name = words(place(scope, SCOPE)[1])
            for span, where in listed(scope, SPANS, at_scope):
                held = sent(attributes(span, where), span, where)
                yield Span(record, where, span, name, service, held)
    yield from exported(record)


def _service(resource: Any, base: str) -> str:
    leaf = attributes(resource, base).get("service.name")
    return words(leaf.value) if leaf else ""
