"""A provider of your own in one file: an Adapter says its format, a Connection carries the bytes."""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

import anyio

from roles_runtime import Finish, LLMRequest, ModelRole, Runtime, Team, TextChunk
from roles_runtime.errors import StreamIncompleteError
from roles_runtime.llm.adapter import Adapter, Capabilities
from roles_runtime.llm.llm_message import LLMUserMessage, WireMessage
from roles_runtime.llm.options import ProviderOptions
from roles_runtime.llm.parts import JsonObject, TextPart
from roles_runtime.llm.provider_model import ProviderModel


class ParrotAdapter(Adapter):
    """What Parrot Inc. wants to be sent: ``{"bird", "line"}``. Pure: it can be tested without any server."""

    wire, origin = "parrot", "parrot"

    def configure_api_params(self, request: LLMRequest, system: str) -> JsonObject:
        return {"bird": self.model}

    def reformat_request_msg_to_api(self, messages: Sequence[WireMessage]) -> list[JsonObject]:
        told = [part for each in messages if isinstance(each, LLMUserMessage) for part in each.parts]
        return [{"line": part.text} for part in told if isinstance(part, TextPart)]

    def assemble_api_request(self, params: JsonObject, messages: list[JsonObject], request: LLMRequest) -> JsonObject:
        return {**params, "line": messages[-1]["line"]}

    def reader(self) -> "ParrotReader":
        return ParrotReader(self.name)

    def read_error(self, status: int, body: bytes) -> tuple[str, str]:
        return "", body.decode(errors="replace")


class ParrotReader:
    """What comes back: a line of JSON a word, ``{"over": true}`` last; the bytes may be cut anywhere."""

    def __init__(self, model: str) -> None:
        self._model, self._rest = model, b""

    def feed(self, data: bytes) -> Iterable[TextChunk | Finish]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in map(json.loads, lines):
            yield Finish() if "over" in line else TextChunk(line["word"] + " ")

    def close(self) -> Iterable[TextChunk | Finish]:
        raise StreamIncompleteError(self._model)


class ParrotConnection:
    """Where a real one would post the body; this one has the parrot in the house."""

    @asynccontextmanager
    async def open(self, body: JsonObject) -> AsyncIterator[AsyncIterator[bytes]]:
        async def answer() -> AsyncIterator[bytes]:
            for word in str(body["line"]).split():
                yield json.dumps({"word": word}).encode() + b"\n"
            yield b'{"over": true}\n'

        yield answer()

    def key(self) -> None: ...

    def ready(self) -> str:
        return ""

    async def aclose(self) -> None: ...


class ParrotModel(ProviderModel):
    """With an entry point in the group ``roles_runtime.providers``, ``--model parrot:grey`` is this class."""

    @classmethod
    def from_name(cls, model: str, options: ProviderOptions | None = None) -> "ParrotModel":
        return cls(ParrotAdapter(f"parrot:{model}", model, Capabilities(tools=False)), ParrotConnection())


async def main() -> None:
    team = Team(ModelRole("Parrot", intro="Repeats.", model=ParrotModel.from_name("grey")))
    async with Runtime(team, kernels=None) as runtime:
        answered = await (await runtime.session()).ask("Polly wants a cracker")
        print(answered.reply.message if answered.reply else answered.detail)


if __name__ == "__main__":
    anyio.run(main)
