"""Between a Post and the JSON text that a model reads and writes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Callable, Collection, Generator, Iterable, Iterator, Sequence

import msgspec

from roles_runtime.errors import InvalidResponseError
from roles_runtime.posts.attachment import KNOWN_TYPES, Attachment, AttachmentType
from roles_runtime.posts.draft import Draft
from roles_runtime.posts.post import UNKNOWN, Post
from roles_runtime.posts.reader import RESPONSE, Piece, PostReader

__all__ = ["ENGLISH_FAULTS", "EarlyStop", "FaultWords", "PostReader", "PostTranslator", "require"]

EarlyStop = Callable[[str, str], bool]
"""Asked with each whole value: the attachment's type, ``message`` or ``send_to``, and the value. True stops."""

_MAX_WARNINGS = 20


class FaultWords(msgspec.Struct, frozen=True):
    """How a model is told what its answer lacks.

    Attributes:
        told: The whole: ``{problems}``, and the ``{shape}`` of an answer.
        between, listed: Between problems, and between names.
        cut_off: A problem, as the next ones.
        missing, empty: Of one field: ``{names}``.
        all_missing, all_empty: Of several.
    """

    told: str
    between: str
    listed: str
    cut_off: str
    missing: str
    all_missing: str
    empty: str
    all_empty: str

    def named(self, names: Sequence[str], one: str, several: str) -> Iterator[str]:
        """The problem that these fields have; none where there are none."""
        if names:
            listed = self.listed.join(f'"{name}"' for name in names)
            yield (one if len(names) == 1 else several).format(names=listed)


ENGLISH_FAULTS = FaultWords(
    told="The answer can not be used: {problems}. Write the whole answer again, as one JSON object {shape}.",
    between="; ",
    listed=", ",
    cut_off="it was cut off",
    missing="the field {names} is missing",
    all_missing="the fields {names} are missing",
    empty="the field {names} is empty",
    all_empty="the fields {names} are empty",
)
"""In English."""


class PostTranslator:
    """Turns a model's answer into a Post, and a Post into the text of an answer. It keeps no state."""

    @staticmethod
    async def raw_text_to_post(
        chunks: Iterable[str] | AsyncIterable[str],
        draft: Draft,
        early_stop: EarlyStop | None = None,
        validation_func: Callable[[Post], None] | None = None,
    ) -> Post:
        """Fills the draft from an answer, however it is cut into chunks, while it comes.

        A bad answer does not raise: what was parsed of it stays in the draft, whose `problem` says what is wrong and
        whose `complete` is false where a value was cut off. Whoever acts on the Post calls `require` first.

        Args:
            chunks: The answer's text. A generator is closed when this returns or raises, wherever it stands.
            draft: An empty draft.
            early_stop: True from it ends the reading at once; nothing after that value is taken.
            validation_func: Called with the Post at the end; what it raises goes through.

        Returns:
            The draft's Post.
        """
        filler = _Filler(draft, early_stop)
        try:
            if isinstance(chunks, AsyncIterable):
                async for chunk in chunks:
                    if filler.feed(chunk):
                        break
            else:
                for chunk in chunks:
                    if filler.feed(chunk):
                        break
        finally:
            await _close(chunks)
        filler.finish()
        if validation_func is not None:
            validation_func(draft.post)
        return draft.post

    @staticmethod
    def post_to_raw_text(
        post: Post,
        content_formatter: Callable[[Attachment], str] = lambda attachment: attachment.content,
        if_format_message: bool = True,
        if_format_send_to: bool = True,
        ignored_types: Collection[AttachmentType | str] = (),
    ) -> str:
        """The answer that this Post would have been: ASCII JSON, attachments first, then send_to and message.

        Attachments of one type are joined by line breaks where the first stands; shared memory entries are no part
        of an answer.

        Args:
            post: The Post.
            content_formatter: Gives the text of each attachment.
            if_format_message: Whether the message is in it.
            if_format_send_to: Whether the recipient is in it.
            ignored_types: Attachments left out.
        """
        answer: dict[str, str] = {}
        for attachment in post.attachment_list:
            kind = str(attachment.type)
            if kind == AttachmentType.shared_memory_entry or kind in ignored_types:
                continue
            content = content_formatter(attachment)
            answer[kind] = f"{answer[kind]}\n{content}" if kind in answer else content
        if if_format_send_to:
            answer["send_to"] = post.send_to
        if if_format_message:
            answer["message"] = post.message
        return json.dumps({RESPONSE: answer})


def require(
    draft: Draft,
    fields: Sequence[str],
    *,
    may_be_empty: Collection[str] = (),
    words: FaultWords = ENGLISH_FAULTS,
) -> None:
    """Makes sure that the draft may be acted upon: its answer was whole, and holds these fields.

    Args:
        draft: As `PostTranslator.raw_text_to_post` left it.
        fields: ``message``, ``send_to`` and attachment types that must be there, and not be blank.
        may_be_empty: Those of them that may be blank.
        words: The language of the error's text.

    Raises:
        InvalidResponseError: it must not; the error's text tells the model everything that is wrong at once.
    """
    missing = [field for field in fields if field not in draft.fields]
    empty = [
        field
        for field in fields
        if field not in missing and field not in may_be_empty and not _value(draft.post, field).strip()
    ]
    problems = [] if draft.problem is None else [draft.problem]
    if not draft.complete and not problems:
        problems.append(words.cut_off)
    problems += [*words.named(missing, words.missing, words.all_missing)]
    problems += [*words.named(empty, words.empty, words.all_empty)]
    if problems:
        told = words.told.format(problems=words.between.join(problems), shape=f'{{"{RESPONSE}": {{…}}}}')
        raise InvalidResponseError(told, draft.raw_text)


class _Filler:
    """Moves what a reader reads into a draft."""

    def __init__(self, draft: Draft, early_stop: EarlyStop | None) -> None:
        self._draft, self._early_stop = draft, early_stop
        self._reader = PostReader()
        self._raw: list[str] = []
        self._unknown: set[str] = set()
        self._stopped = False
        self._repeated = False
        draft.complete = False

    def feed(self, chunk: str) -> bool:
        """Takes a chunk; whether it was the last that is wanted."""
        self._raw.append(chunk)
        for piece in self._reader.feed(chunk):
            known = self._place(piece)
            if piece.whole is None or known is None:
                continue
            if known not in self._draft.fields:
                self._draft.fields.append(known)
            if self._early_stop is not None and self._early_stop(known, piece.whole):
                self._stopped = True
                break
        return self._stopped

    def finish(self) -> None:
        """The answer is over."""
        if not self._stopped:
            self._reader.close()
        draft = self._draft
        draft.complete = self._stopped or self._reader.done
        draft.problem = None if draft.complete else self._reader.problem
        if draft.problem is None and self._repeated:
            draft.problem = 'the field "message" stands in it twice'
        draft.reasoning, draft.raw_text = self._reader.reasoning, "".join(self._raw)

    def _place(self, piece: Piece) -> str | None:
        key, ended = piece.key, piece.whole is not None
        if key == "message":
            if key in self._draft.fields:
                self._repeated = True
                return None
            self._draft.grow_message(piece.text, is_end=ended)
            return key
        if key == "send_to":
            if piece.whole is not None:
                self._draft.address(piece.whole)
            return key
        known = None if key == AttachmentType.shared_memory_entry else KNOWN_TYPES.get(key)
        if known is not None:
            self._draft.grow_attachment(known, piece.text, is_end=ended)
        elif key not in self._unknown and len(self._unknown) < _MAX_WARNINGS:
            self._unknown.add(key)
            self._draft.warnings.append(f"The unknown key {key[:80]!r} was ignored.")
        return known


async def _close(chunks: Iterable[str] | AsyncIterable[str]) -> None:
    # Lists and files are the caller's; a generator left half read would run its cleanup at some later time.
    if isinstance(chunks, AsyncIterable):
        aclose = getattr(chunks, "aclose", None)
        if aclose is not None:
            await aclose()
    elif isinstance(chunks, Generator):
        chunks.close()


def _value(post: Post, field: str) -> str:
    if field == "message":
        return post.message
    if field == "send_to":
        return "" if post.send_to == UNKNOWN else post.send_to
    return "".join(attachment.content for attachment in post.get_attachment(field))
