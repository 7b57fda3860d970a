"""The task tools in Chinese."""

from __future__ import annotations

from roles_runtime.tools.tasks.words import Words

CHINESE = Words(
    descriptions={
        "TaskCreate": """在全队共享的任务板上创建一个任务。

适用于三步以上的工作、用户列出多件事情、或需要制定计划时；单个简单步骤或闲聊时不要使用。
- subject 用简短的祈使句，如“统计行数”；activeForm 描述进行中的状态，如“正在统计行数”。
- 先调用 TaskList，避免重复创建。
- 任务创建后，用 TaskUpdate（addBlocks、addBlockedBy）设置依赖关系。""",
        "TaskGet": """显示一个任务的全部内容：描述、它等待的任务、等待它的任务、负责人。

开始任务之前先阅读它；只有当没有未完成的前置任务时才开始。""",
        "TaskUpdate": """修改一个任务：状态、文字、负责人、依赖关系。

- 先读取任务的最新内容。开始之前将 status 设为 in_progress，任务即归你所有；他人的任务会被拒绝。
- 只有全部完成后才设为 completed。失败时保持 in_progress，并为阻碍它的事情创建新任务。
- deleted 将任务永久移除。
- 未提供或为 "" 的字段保持不变；null 清空该字段。owner 为 null 表示放弃该任务。
示例：{"taskId": "1", "status": "in_progress"}；{"taskId": "1", "status": "completed"}；\
{"taskId": "2", "addBlockedBy": ["1"]}；{"taskId": "2", "removeBlockedBy": ["1"]}；{"taskId": "3", "owner": null}""",
        "TaskList": """按编号列出所有任务：状态、标题、负责人，以及阻塞它的未完成任务。

用它找到下一步：编号最小、状态为 pending、无人负责且未被阻塞的任务。完成一个任务后再次调用。""",
    },
    parameters={
        "taskId": "任务编号。",
        "subject": "用几个字说明要做什么。",
        "description": "详细说明要做什么。",
        "activeForm": "任务进行中显示的文字，如“正在统计行数”。",
        "status": "新的状态。",
        "addBlocks": "等待本任务的任务编号。",
        "removeBlocks": "不再等待本任务的任务编号。",
        "addBlockedBy": "本任务所等待的任务编号。",
        "removeBlockedBy": "本任务不再等待的任务编号。",
        "owner": "负责该任务的角色；null 表示放弃。",
        "TaskCreate.metadata": "其他附加信息。",
        "TaskUpdate.metadata": "与已有内容合并；值为 null 的键会被删除。",
    },
    reminder="任务板上还有未完成的任务。请用 TaskUpdate 及时更新；不要提及本提醒。",
    more="还有 {count} 个：请调用 TaskList",
    unfinished="""还有任务正在进行，你却在回复用户。请把做完的标为完成，没做完的交还（owner: null）或删除；\
要等用户回话后再继续的可以保留。然后重新写出完整的回答。正在进行的任务：""",
)
