"""A model of your own: a name, one word about its code, and a stream of chunks that ends with Finish."""

from collections.abc import AsyncGenerator

import anyio

from roles_runtime import Finish, LLMRequest, ModelRole, Runtime, Team, TextChunk


class Parrot:
    """Where a real one would call its provider."""

    name = "parrot:grey"
    writes_code = True  # whether code that it writes is an LLM's, which never runs outside a sandbox unasked

    async def stream(self, request: LLMRequest) -> AsyncGenerator[TextChunk | Finish, None]:
        said = request.messages[-1].text.strip().splitlines()[-1]
        for word in said.split():
            yield TextChunk(word + " ")
        yield Finish()


async def main() -> None:
    team = Team(ModelRole("Parrot", intro="Repeats.", model=Parrot()))
    async with Runtime(team, kernels=None) as runtime:
        session = await runtime.session()
        answered = await session.ask("Polly wants a cracker")
        print(answered.reply.message if answered.reply else answered.detail)


if __name__ == "__main__":
    anyio.run(main)
