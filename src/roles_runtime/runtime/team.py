"""A Team: the roster and its leader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy

from roles_runtime.errors import TeamError
from roles_runtime.posts.post import UNKNOWN, USER, RoleName
from roles_runtime.roles.middleware.plan_tasks import PlanTasks
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Member, Middleware
from roles_runtime.tools.tasks.languages import LANGUAGES, known
from roles_runtime.tools.tasks.words import Language

_NAME = re.compile(r"[^\W\d][\w .-]{0,63}")


class Team:
    """Who works together. It is read by many sessions and never changes.

    Attributes:
        leader: Whose Post to User closes the round.
        roles: All roles by name, the leader first.
        middleware: Round every turn of every role, the first outermost, as it was given.
        language: What its models are told in.
        members: The roster: name and intro of each.
        addresses: Every exact name that a Post may be for.
    """

    def __init__(
        self,
        leader: Role | None = None,
        workers: Sequence[Role] = (),
        middleware: Sequence[Middleware] | None = None,
        language: Language | None = None,
    ) -> None:
        """Puts a team together.

        Args:
            leader: Usually a Planner. May be left out where there is one worker, which then leads itself.
            workers: The others.
            middleware: Round every turn; `PlanTasks` where it is left out, nothing where it is empty.
            language: What its models are told in: ``en`` or ``zh``; where it is left out, what `set_language` said,
                else English.

        Raises:
            TeamError: nobody leads, two have one name, a name can not be an address, or there is no such language.
        """
        if leader is None:
            if len(workers) != 1:
                raise TeamError(
                    f"Nobody leads this team of {len(workers)} workers; give it a leader=Planner(...), or one worker."
                )
            leader, workers = workers[0], ()
        everyone = (leader, *workers)
        _check_roles(everyone)
        self.language = _language(language)
        self.leader = leader
        self.roles: dict[RoleName, Role] = {role.name: role for role in everyone}
        self.middleware = tuple(middleware or ())
        self._default = (PlanTasks(),) if middleware is None else ()
        self.members = tuple(Member(role.name, role.introduction(self.language)) for role in everyone)
        self.addresses: dict[str, RoleName] = {name: name for name in (*self.roles, USER)}
        self._folded = _unique_folded(self.addresses)

    def within(self, *outermost: Middleware) -> Team:
        """This team, with more middleware round all that it has, the first outermost."""
        wrapped = copy(self)
        wrapped.middleware = (*outermost, *self.middleware)
        return wrapped

    def address(self, send_to: str) -> RoleName | None:
        """The name that ``send_to`` means: exact, or stripped and the only one that is equal but for case."""
        return self.addresses.get(send_to) or self._folded.get(send_to.strip().casefold())

    def layers(self, role: Role) -> tuple[Middleware, ...]:
        """All middleware round a role's turns, the first outermost.

        What is on by default is for roles with a model, and gives way to what a role brings itself.
        """
        brings_own = any(isinstance(each, PlanTasks) for each in role.middleware)
        default = () if role.model is None or brings_own else self._default
        return (*self.middleware, *default, *role.middleware)

    def recipients(self, sender: RoleName) -> str:
        """Whom a role may write to, for a reader: ``User, CodeInterpreter``."""
        return ", ".join(name for name in (USER, *self.roles) if name != sender)


def _language(given: Language | None) -> Language:
    try:
        return known(given)
    except ValueError as error:
        raise TeamError(f"A team can not speak {given!r}; give it one of {', '.join(LANGUAGES)}.") from error


def _check_roles(roles: Iterable[Role]) -> None:
    seen: set[str] = set()
    for role in roles:
        if not isinstance(role, Role):
            raise TeamError(f"{role!r} is no Role; derive it from roles_runtime.Role and give it a reply(turn).")
        name = getattr(role, "name", None)
        if type(name) is not str or not _NAME.fullmatch(name):
            raise TeamError(
                f"{name!r} can not be a role's name: 1 to 64 letters, digits, blanks, dots or dashes, a letter first."
            )
        if name.casefold() in (USER.casefold(), UNKNOWN.casefold()):
            raise TeamError(f"A role can not be named {name!r}, which is an address of the runtime's own.")
        if name.casefold() in seen:
            raise TeamError(f"Two roles are named {name!r}; each needs a name of its own, and not by case alone.")
        seen.add(name.casefold())


def _unique_folded(names: Iterable[RoleName]) -> dict[str, RoleName]:
    return {name.casefold(): name for name in names}
