"""One tree of errors. Each is one sentence: what happened, where, and what to do next, with its data as fields."""

from __future__ import annotations

from collections.abc import Sequence


class RolesError(Exception):
    """Whatever this library raises on purpose is a RolesError."""


# --- posts -----------------------------------------------------------------------------------------------


class PostSealedError(RolesError):
    """A Post was changed after it had been delivered."""

    def __init__(self, what: str = "Post") -> None:
        self.what = what
        super().__init__(f"This {what} was delivered and is sealed; make a new one, or change an open copy.")


class PostRefusedError(RolesError):
    """The router refused a Post that a role returned."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class AttachmentTypeError(RolesError, ValueError):
    """An attachment type is neither one of the known ones nor registered."""

    def __init__(self, name: object, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(
            f"{name!r} is no attachment type; known are {', '.join(self.known)}. "
            "Register a type of your own with register_attachment_type(name)."
        )


class DocumentError(RolesError, ValueError):
    """A YAML or JSON document (example, conversation, record) has the wrong shape."""

    def __init__(self, where: str, problem: str) -> None:
        self.where, self.problem = where, problem
        super().__init__(f"{where}: {problem}")


class InvalidResponseError(RolesError):
    """What a model answered is not the Post that its role must write; the role corrects itself with this text."""

    def __init__(self, problem: str, raw_text: str = "") -> None:
        self.problem, self.raw_text = problem, raw_text
        super().__init__(problem)


# --- models ----------------------------------------------------------------------------------------------


class MessageError(RolesError, ValueError):
    """A message can not be told to a model, or its class can not be part of the family."""


class ModelError(RolesError):
    """A model could not answer; the round in which it was asked fails with this line.

    Attributes:
        transient: Whether the same call may well succeed a little later.
        retry_after_s: How long the provider asked to wait, in seconds; None where it did not say.
    """

    transient = False

    def __init__(self, model: str, problem: str, *, retry_after_s: float | None = None) -> None:
        self.model, self.problem, self.retry_after_s = model, problem, retry_after_s
        super().__init__(f"Model {model}: {problem}")


class ModelUnavailableError(ModelError):
    """The provider is down, overloaded or out of reach."""

    transient = True


class ModelRateLimitError(ModelUnavailableError):
    """The provider takes no more requests for now."""


class ModelTimeoutError(ModelUnavailableError):
    """The provider kept us waiting beyond a bound."""


class ModelExhaustedError(ModelUnavailableError):
    """All that may be tried was tried: a model was asked again in vain, or no model of several could answer.

    Attributes:
        failures: The last error of each model that was asked.
    """

    transient = False

    def __init__(
        self, model: str, problem: str, failures: Sequence[ModelError], *, retry_after_s: float | None = None
    ) -> None:
        self.failures = tuple(failures)
        super().__init__(model, problem, retry_after_s=retry_after_s)


class ModelCircuitOpenError(ModelUnavailableError):
    """A model was not asked, since it failed again and again and is left alone for a while."""


class StreamIncompleteError(ModelUnavailableError):
    """A model's stream ended without its terminal signal, so that its text can not be trusted."""

    def __init__(self, model: str, problem: str = "the stream ended before the model said that it was done.") -> None:
        super().__init__(model, problem)


class StreamMalformedError(ModelUnavailableError):
    """A provider answered with what is not its own format."""


class ModelKeyError(ModelError):
    """A key is missing, or the provider refuses it."""


class ModelQuotaError(ModelError):
    """What was paid for is used up; waiting a little does not help."""


class ModelRefusedError(ModelError):
    """The provider refuses the request itself: it would refuse it again."""


class ContextWindowError(ModelRefusedError):
    """The prompt is longer than the model's window."""


class UsageLimitError(ModelError):
    """A model was not asked, since its turn, round or session has used up what it may; the round fails as ``limit``.

    Attributes:
        bound: Which one: ``round_calls``.
        most: How much it allows.
        spent: How much was used.
    """

    def __init__(self, model: str, bound: str, most: int, spent: int) -> None:
        self.bound, self.most, self.spent = bound, most, spent
        whose, _, what = bound.partition("_")
        super().__init__(
            model,
            f"it was not asked: the {whose} has used {spent:,} {what}, and {bound} is {most:,}; "
            "raise it, or ask for less at once.",
        )


class WireError(ModelError):
    """A request was not sent, since the provider would refuse or misread it; this is a fault of its adapter.

    Attributes:
        path: Where in the request: ``messages[3].content[0]``.
    """

    def __init__(self, model: str, path: str, problem: str) -> None:
        self.path = path
        super().__init__(model, f"the request was not sent: {path}: {problem}")


# --- tools -----------------------------------------------------------------------------------------------


class ToolDefinitionError(RolesError, TypeError):
    """A function can not be made a tool, or two tools of one turn have the same name."""


class ToolFailedError(RolesError):
    """Raised by a tool to tell the model what went wrong: it becomes an error result, never the turn's end."""


class TaskError(RolesError):
    """What was asked of a board of tasks can not be done; the board is as it was."""


class ToolSourceError(RolesError):
    """Tools of another process can not be had: their server does not start, or is not what it was said to be."""

    def __init__(self, source: str, problem: str) -> None:
        self.source, self.problem = source, problem
        super().__init__(f"{source}: {problem}")


# --- kernels and files -----------------------------------------------------------------------------------


class KernelError(RolesError):
    """The kernel could not run a cell."""


class KernelLostError(KernelError):
    """The kernel died or was replaced; its variables are gone."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"The kernel was lost ({reason}); a new one starts with the next cell, its variables are gone."
        )


class SandboxUnavailableError(KernelError):
    """No sandbox can be had, and code written by an LLM never runs without one unasked."""


class KernelUnavailableError(KernelError):
    """What the kernel needs is not installed."""


class WorkspaceError(RolesError):
    """A file could not be taken into, or read from, the workspace."""

    def __init__(self, path: str, problem: str) -> None:
        self.path, self.problem = path, problem
        super().__init__(f"{path}: {problem}")


# --- stores ----------------------------------------------------------------------------------------------


class StoreError(RolesError):
    """The store could not read or write; nothing acknowledged was lost."""


class StoreLockedError(StoreError):
    """Somebody else holds the store's file for longer than we wait."""


class StoreCorruptError(StoreError):
    """The store's file is damaged, or is no store of ours."""


class StoreVersionError(StoreError):
    """The store was written by a newer version of this library."""


class StoreFullError(StoreError):
    """The disk is full or the folder is read-only: the entry was not written."""


class SessionNotFoundError(StoreError, LookupError):
    """No session of that id stands in the store."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(f"There is no session {session_id!r} in this store; `sessions` lists those there are.")


class RoundNotFoundError(StoreError, LookupError):
    """A session has no round of that number."""

    def __init__(self, session_id: str, number: int, count: int) -> None:
        self.session_id, self.number, self.count = session_id, number, count
        known = "its only round is 1" if count == 1 else f"its rounds are 1 to {count}"
        super().__init__(f"Session {session_id!r} has no round {number}; {known}.")


# --- mail ------------------------------------------------------------------------------------------------


class TransportError(RolesError):
    """An envelope could not be handed over: nobody opened that address, or its mailbox is full."""


# --- runtime ---------------------------------------------------------------------------------------------


class TeamError(RolesError, ValueError):
    """A team can not work as it was described."""


class SessionBusyError(RolesError):
    """A session is owned by another process, or has too many questions waiting."""


class RuntimeReopenedError(RolesError):
    """A runtime was opened a second time."""


class SessionClosedError(RolesError):
    """A session or its runtime was closed before it was asked."""


class ApprovalNotFoundError(RolesError, LookupError):
    """A question was answered that is not open: it was answered already, or its round is over."""

    def __init__(self, approval_id: str, known: Sequence[str]) -> None:
        self.approval_id, self.known = approval_id, tuple(known)
        listed = ", ".join(self.known) or "none"
        super().__init__(f"There is no open question {approval_id!r}; open are: {listed}.")


class RoleError(RolesError):
    """A role broke its contract: it raised, or returned what is no Post of its own."""

    def __init__(self, role: str, problem: str) -> None:
        self.role, self.problem = role, problem
        super().__init__(f"Role {role}: {problem}")


class CorrectionsExhaustedError(RoleError):
    """A leader could not mend its own answer within the bound."""

    def __init__(self, role: str, limit: int, problem: str) -> None:
        self.limit = limit
        super().__init__(role, f"after {limit} self-corrections its answer is still not right: {problem}")


class ModelMissingError(RolesError):
    """A role that needs a model has none."""

    def __init__(self, role: str) -> None:
        self.role = role
        super().__init__(f"Role {role} has no model; give it one: {role}(model='rules') or --model.")


# --- plugins and configuration ---------------------------------------------------------------------------


class PluginNotFoundError(RolesError, LookupError):
    """No plugin of that kind has that name."""

    def __init__(self, kind: str, name: str, known: Sequence[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        listed = ", ".join(self.known) or "none"
        super().__init__(f"There is no {kind} named {name!r}; installed are: {listed}.")


class PluginLoadError(RolesError):
    """A plugin is installed but can not be imported."""

    def __init__(self, kind: str, name: str, problem: str) -> None:
        self.kind, self.name, self.problem = kind, name, problem
        super().__init__(f"The {kind} {name!r} is installed but can not be loaded: {problem}")


class ConfigError(RolesError, ValueError):
    """The configuration is wrong at one key."""

    def __init__(self, where: str, key: str, problem: str) -> None:
        self.where, self.key, self.problem = where, key, problem
        super().__init__(f"{where}: {key}: {problem}")
