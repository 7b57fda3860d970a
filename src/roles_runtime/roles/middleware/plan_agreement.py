"""A plan and the board agree: the plan that a Post carries is drawn from the board, and no task is left half done."""

from __future__ import annotations

from collections.abc import Sequence

from roles_runtime.posts.attachment import AttachmentType
from roles_runtime.posts.post import USER, Post, RoleName
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.posts.translator import PostTranslator
from roles_runtime.roles.correction import correction, may_correct
from roles_runtime.roles.planner import share_plan
from roles_runtime.roles.turn import Turn
from roles_runtime.tools.tasks import replies
from roles_runtime.tools.tasks.board import Listing
from roles_runtime.tools.tasks.languages import words
from roles_runtime.tools.tasks.task import Task
from roles_runtime.tools.tasks.words import Language

IN_PROGRESS = "in_progress"

MAX_TOLD = 20
"""How many tasks a role is told of at once."""

MAX_PLANNED = 100
"""How many tasks a plan shows: each Post of a planner carries it, and its team reads it again and again."""


def carries_plan(post: Post) -> bool:
    """Whether a Post is of one that plans."""
    return bool(post.get_attachment(AttachmentType.plan) and post.get_attachment(AttachmentType.current_plan_step))


def answers_user(turn: Turn, post: Post) -> bool:
    """Whether a Post ends the round."""
    return turn.role == turn.leader and post.send_to == USER


def draw_plan(post: Post, listing: Listing, language: Language) -> None:
    """Draws the plan that a Post carries from the board, and its step from the task in progress.

    What stands on the board is the plan; where nothing does, the plan is as the model wrote it. With several tasks in
    progress the step is that of whom the Post is for, or else the first; with none, it is the one that comes next.
    """
    if not listing.tasks or not carries_plan(post):
        return
    plan = post.get_attachment(AttachmentType.plan)[-1]
    shown = _foremost(listing.tasks, listing, MAX_PLANNED)
    plan.content = "\n".join((*map(_line, shown), *_more(len(listing.tasks) - len(shown), language)))
    step = _step(listing, post.send_to)
    if step is not None:
        post.get_attachment(AttachmentType.current_plan_step)[-1].content = _line(step)
    share_plan(post, language)


def _step(listing: Listing, worker: RoleName) -> Task | None:
    under_way = [task for task in listing.tasks if task.status == IN_PROGRESS]
    if under_way:
        return next((task for task in under_way if task.owner == worker), under_way[0])
    return next((task for task in listing.tasks if task.is_open and task.id not in listing.blockers), None)


def unfinished(turn: Turn, post: Post, listing: Listing, language: Language) -> Post | None:
    """The self-send that reminds a leader of tasks in progress before it answers User; None where there is no need.

    It is sent once a round: whoever answers all the same means it.
    """
    under_way = [task for task in listing.tasks if task.status == IN_PROGRESS]
    told = words(language).unfinished
    if not under_way or not answers_user(turn, post) or not may_correct(turn) or _told_of(turn, told) is not None:
        return None
    problem = "\n".join((told, *told_lines(under_way, listing, language)))
    reminded = correction(turn, PostTranslator.post_to_raw_text(post), problem)
    for each in post.attachment_list:
        # What was shared for longer than this round is shared, whatever becomes of the answer: a summary, say.
        if isinstance(each.extra, SharedMemoryEntry) and each.extra.scope == "conversation":
            reminded.add_attachment(each)
    return reminded


def told_lines(tasks: Sequence[Task], listing: Listing, language: Language) -> list[str]:
    """Some tasks, a line each; where there is no room for all, those in progress and what waits for them."""
    shown = _foremost(tasks, listing, MAX_TOLD)
    lines = [replies.line(task, listing.blockers.get(task.id, ())) for task in shown]
    return [*lines, *_more(len(tasks) - len(shown), language)]


def _foremost(tasks: Sequence[Task], listing: Listing, most: int) -> Sequence[Task]:
    """At most so many of them, by number: what is in progress, what waits for it, what is open, what is done."""
    if len(tasks) <= most:
        return tasks
    under_way = {task.id for task in tasks if task.status == IN_PROGRESS}

    def distance(task: Task) -> int:
        if not task.is_open:
            return 3
        waits = not under_way.isdisjoint(listing.blockers.get(task.id, ()))
        return 0 if task.id in under_way else 1 if waits else 2

    return sorted(sorted(tasks, key=distance)[:most], key=lambda task: int(task.id))


def _more(count: int, language: Language) -> Sequence[str]:
    return (words(language).more.format(count=count),) if count else ()


async def held_back(turn: Turn, language: Language) -> Post | None:
    """The answer that a reminder of this round held back, once more; None where none did, or it was not kept whole."""
    reminded = _told_of(turn, words(language).unfinished)
    if reminded is None:
        return None
    turn.draft.withdraw()
    (answer,) = reminded.get_attachment(AttachmentType.invalid_response)
    post = await PostTranslator.raw_text_to_post([answer.content], turn.draft)
    if turn.draft.problem or not turn.draft.complete:
        turn.draft.withdraw()
        return None
    return post


def _told_of(turn: Turn, told: str) -> Post | None:
    rounds = [each for each in turn.memory.get_role_rounds(turn.role) if each.id == turn.round_id]
    posts = (post for each in rounds for post in each.post_list)
    return next((post for post in posts if post.send_to == turn.role and post.message.startswith(told)), None)


def _line(task: Task) -> str:
    waits = f" <narrow depend on {', '.join(task.blocked_by)}>" if task.blocked_by else ""
    return f"{task.id}. {replies.brief(task)}{waits}"
