"""The task tools in English."""

from __future__ import annotations

from roles_runtime.tools.tasks.words import Words

ENGLISH = Words(
    descriptions={
        "TaskCreate": """Puts a task on the board that the whole team shares.

Use it where work takes three steps or more, where the user lists several things to do, or when you plan. Leave it for \
a single simple step, and for mere conversation.
- subject is short and an order: "Count the rows". activeForm says the same of work going on: "Counting the rows".
- Call TaskList first, so that nothing stands on the board twice.
- Say what waits for what with TaskUpdate (addBlocks, addBlockedBy) once the tasks are there.""",
        "TaskGet": """Shows one task whole: its description, what it waits for, what waits for it, and whose it is.

Read a task before you begin it, and begin it only where nothing is left that it is blocked by.""",
        "TaskUpdate": """Changes a task: its state, its texts, whose it is, what it waits for.

- Read the task first. Set status to in_progress before you begin, which makes it yours; a task of another is refused.
- Set completed only when all of it is done. On failure leave it in_progress, and create a task for what is in the way.
- deleted takes it off the board for good.
- A field that you leave out, or give as "", stays; null clears it. An owner of null gives the task back.
Examples: {"taskId": "1", "status": "in_progress"}; {"taskId": "1", "status": "completed"}; \
{"taskId": "2", "addBlockedBy": ["1"]}; {"taskId": "2", "removeBlockedBy": ["1"]}; {"taskId": "3", "owner": null}""",
        "TaskList": """Lists all tasks by number: state, subject, owner, and the open tasks that each is blocked by.

Use it to find what to do next: the lowest number that is pending, nobody's, and not blocked. Call it again when a \
task is completed.""",
    },
    parameters={
        "taskId": "The number of the task.",
        "subject": "What is to be done, in a few words.",
        "description": "What is to be done, in detail.",
        "activeForm": "What is shown while it is in progress: Counting the rows.",
        "status": "The new state.",
        "addBlocks": "Numbers of tasks that wait for this one.",
        "removeBlocks": "Numbers of tasks that no longer wait for it.",
        "addBlockedBy": "Numbers of tasks that this one waits for.",
        "removeBlockedBy": "Numbers of tasks that it no longer waits for.",
        "owner": "The role that works on it; null gives it back.",
        "TaskCreate.metadata": "Whatever else belongs to it.",
        "TaskUpdate.metadata": "Is merged into what there is; null takes a key out.",
    },
    reminder="The board of tasks has open ones. Keep it up to date with TaskUpdate; do not speak of this reminder.",
    more="and {count} more: call TaskList",
    unfinished="""You answer the user while tasks are in progress. Complete what is done, and give back (owner: null) \
or delete what is not; leave what goes on after the user's next word. Then write the whole answer again. \
In progress:""",
)
