"""The attributes of each convention that instrumentations follow; the first that a span has counts.

OpenTelemetry's own (`gen_ai.*`, also as Pydantic AI and Strands write it), OpenInference
(`llm.*`, `tool.*`, `input.value`), the Vercel AI SDK (`ai.*`), Traceloop's OpenLLMetry, Langfuse's.
"""

from typing import Literal

from . import langfuse
from .spans import Span

Kind = Literal["model", "tool", "agent", ""]

KINDS: tuple[tuple[str, dict[str, Kind]], ...] = (
    # The attribute that says what a span is, and its values.
    (
        "ai.operationId",
        {
            "ai.generateText": "agent",
            "ai.streamText": "agent",
            "ai.generateObject": "agent",
            "ai.streamObject": "agent",
            "ai.generateText.doGenerate": "model",
            "ai.streamText.doStream": "model",
            "ai.generateObject.doGenerate": "model",
            "ai.streamObject.doStream": "model",
            "ai.toolCall": "tool",
        },
    ),
    (
        "gen_ai.operation.name",
        {
            "chat": "model",
            "text_completion": "model",
            "generate_content": "model",
            "execute_tool": "tool",
            "invoke_agent": "agent",
        },
    ),
    ("openinference.span.kind", {"LLM": "model", "TOOL": "tool", "AGENT": "agent"}),
    ("traceloop.span.kind", {"tool": "tool", "agent": "agent"}),
    ("llm.request.type", {"chat": "model", "completion": "model"}),
    (
        langfuse.KIND,
        {
            "generation": "model",
            "GENERATION": "model",
            "tool": "tool",
            "TOOL": "tool",
            "agent": "agent",
            "AGENT": "agent",
        },
    ),
)

SESSION = (
    "gen_ai.conversation.id",
    "session.id",
    "ai.telemetry.metadata.sessionId",
    "traceloop.association.properties.session_id",
    langfuse.SESSION,
)
AGENT = (
    "gen_ai.agent.name",
    "agent.name",
    "ai.telemetry.functionId",
    "traceloop.entity.name",
    langfuse.NAME,
)
MODEL = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.response.model",
    "ai.model.id",
    "langfuse.observation.model.name",
)
TOOL = (
    "gen_ai.tool.name",
    "tool.name",
    "ai.toolCall.name",
    "traceloop.entity.name",
    langfuse.NAME,
)
CALL = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id", langfuse.CALL)
SENT = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",  # Pydantic AI until its format 3
    "ai.toolCall.args",
    "input.value",
    "traceloop.entity.input",
    langfuse.GIVEN,
)
RESULT = (
    "gen_ai.tool.call.result",
    "tool_response",  # Pydantic AI until its format 3
    "ai.toolCall.result",
    "output.value",
    "traceloop.entity.output",
    langfuse.SAID,
)
FINISH = (
    "gen_ai.response.finish_reasons",
    "llm.finish_reason",
    "ai.response.finishReason",
    "gen_ai.completion.0.finish_reason",
)
CUT_SHORT = ("length", "max_tokens", "content_filter", "content-filter")
"""Reasons to stop that are not the model's own."""
OFFERED = ("gen_ai.tool.definitions", "gen_ai.agent.tools", "ai.prompt.tools")
OFFERED_ONE_BY_ONE = (
    ("llm.tools.", ".tool.json_schema"),
    ("llm.request.functions.", ".name"),
)
"""How the names of attributes begin and end that tell of one tool each."""
USAGE: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "input_tokens",
        (
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
        ),
    ),
    (
        "output_tokens",
        (
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
        ),
    ),
    (
        "cache_read_input_tokens",
        (
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "llm.token_count.prompt_details.cache_read",
            "ai.usage.cachedInputTokens",
        ),
    ),
    (
        "cache_creation_input_tokens",
        (
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_write_input_tokens",
            "llm.token_count.prompt_details.cache_write",
        ),
    ),
)
"""Our names of counts, and each convention's."""

HARNESSES = {
    "pydantic-ai": "Pydantic AI",
    "strands.telemetry.tracer": "Strands Agents",
    "ai": "Vercel AI SDK",
    "agent_framework": "Microsoft Agent Framework",
    "openinference.instrumentation.openai_agents": "OpenAI Agents SDK",
    "openinference.instrumentation.langchain": "LangChain",
}
"""Whose spans a scope's are, where it tells."""

CLIENTS = ("claude-code", "gemini-cli", "qwen-code")
"""Services that log their sessions in files of their own, of which spans tell only a part."""
CLIENT_MARKS = ("codex", "claude_code", "claude-code")
"""How the names of such clients' services and spans begin."""


def kind_of(span: Span) -> Kind:
    """What a span is, by the first convention that says so."""
    if is_clients(span):
        return ""
    for key, kinds in KINDS:
        leaf = span.attributes.get(key)
        kind = kinds.get(leaf.value) if leaf and isinstance(leaf.value, str) else None
        if kind == "tool" and not span.text(TOOL):
            return ""  # OpenInference has a handover between the Agents SDK's agents so
        if kind is not None:
            return kind
    return ""


def is_clients(span: Span) -> bool:
    """Whether a coding agent's client sent the span as telemetry of its own."""
    names = (span.service, span.scope, span.name)
    return span.service in CLIENTS or any(name.startswith(CLIENT_MARKS) for name in names)
