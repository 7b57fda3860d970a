"""TracedModel: each call of a model is a span with its tokens, and with its messages where content is wished for."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import perf_counter

from opentelemetry.trace import Span, SpanKind

from roles_runtime.llm.calls import ToolCall
from roles_runtime.llm.message import AssistantTextMessage
from roles_runtime.llm.model import Answering, Chunk, Finish, Model, TextChunk, ToolCallChunk, Usage
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.post import RoleName
from roles_runtime.telemetry import names
from roles_runtime.telemetry.tracing import Tracing

_KNOWN_AS = {"gemini": "gcp.gemini"}
"""What the conventions call a provider, where it is not what a user writes before the colon."""


class TracedModel:
    """A model whose calls are seen. The span is current for nobody: a stream may be left in the middle."""

    def __init__(self, worn: Model, tracing: Tracing, role: RoleName) -> None:
        self._worn, self._tracing, self._role = worn, tracing, role

    @property
    def name(self) -> str:
        """The model's own."""
        return self._worn.name

    @property
    def writes_code(self) -> bool:
        """The model's own."""
        return self._worn.writes_code

    async def stream(self, request: LLMRequest) -> AsyncGenerator[Chunk, None]:
        """Asks it. See `Model.stream`."""
        call = _Call(self._tracing, self._worn.name, self._role, request)
        error: BaseException | None = None
        try:
            async with aclosing(self._worn.stream(request)) as chunks:
                async for chunk in chunks:
                    call.take(chunk)
                    yield chunk
        except Exception as raised:
            error = raised
            raise
        finally:
            call.end(error)


class _Call:
    """One call, from its request to whatever ended it."""

    def __init__(self, tracing: Tracing, name: str, role: RoleName, request: LLMRequest) -> None:
        self._tracing, self._name, self._started_s = tracing, name, perf_counter()
        self._finish: Finish | None = None
        self._said: list[str] = []
        self._calls: list[ToolCall] = []
        provider, model = _parts(name)
        attributes: dict[str, str | int | float] = {
            names.OPERATION: "chat",
            names.PROVIDER: provider,
            names.REQUEST_MODEL: model,
            names.AGENT: role,
        }
        for key, value in (
            (names.TEMPERATURE, request.temperature),
            (names.TOP_P, request.top_p),
            (names.MAX_TOKENS, request.max_tokens),
        ):
            if value is not None:
                attributes[key] = value
        content = tracing.content
        if content.is_on:
            system = [each for each in request.messages if each.role == "system"]
            others = [each for each in request.messages if each.role != "system"]
            attributes[names.SYSTEM_INSTRUCTIONS] = content.instructions(system)
            attributes[names.INPUT_MESSAGES] = content.messages(others)
        self._span: Span = tracing.tracer.start_span(f"chat {model}", None, SpanKind.CLIENT, attributes)

    def take(self, chunk: Chunk) -> None:
        """Looks at what came."""
        match chunk:
            case Finish():
                self._finish = chunk
            case Answering(model=model):
                self._name = model
            case TextChunk(text=text) if self._tracing.content.is_on:
                self._said.append(text)
            case ToolCallChunk(call=call) if self._tracing.content.is_on:
                self._calls.append(call)

    def end(self, error: BaseException | None) -> None:
        """Ends the span. One that was left before its end has neither tokens nor a reason, and is no failure."""
        span, tracing, finish = self._span, self._tracing, self._finish
        provider, model = _parts(self._name)
        usage = Usage() if finish is None else finish.usage
        span.set_attribute(names.RESPONSE_MODEL, model)
        if finish is not None:
            span.set_attributes(
                {
                    names.FINISH_REASONS: (finish.reason,),
                    names.INPUT_TOKENS: usage.input_tokens,
                    names.OUTPUT_TOKENS: usage.output_tokens,
                }
            )
            for key, count in (
                (names.CACHED_TOKENS, usage.cached_tokens),
                (names.REASONING_TOKENS, usage.reasoning_tokens),
            ):
                if count:
                    span.set_attribute(key, count)
        if tracing.content.is_on:
            said = AssistantTextMessage(content="".join(self._said), tool_calls=tuple(self._calls))
            reason = "error" if finish is None else finish.reason
            span.set_attribute(names.OUTPUT_MESSAGES, tracing.content.answer(said, reason))
        if error is not None:
            tracing.fail(span, error)
        span.end()
        failed = "" if error is None else type(error).__qualname__
        tracing.meters.model(provider, model, perf_counter() - self._started_s, usage, failed)


def _parts(name: str) -> tuple[str, str]:
    provider, _, model = name.partition(":")
    return _KNOWN_AS.get(provider, provider), model or name
