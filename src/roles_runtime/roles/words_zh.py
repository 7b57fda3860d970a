"""What the roles tell their models, in Chinese."""

from __future__ import annotations

from roles_runtime.kernels.verification import RuleWords
from roles_runtime.memory.compression import PLACEHOLDER
from roles_runtime.posts.translator import FaultWords
from roles_runtime.roles.words import RoleWords

_AGAIN = "请重新写出完整的回答"

CHINESE = RoleWords(
    planner_intro="制定计划，并分派计划中的各个步骤。",
    coder_intro=(
        "在有状态的 notebook 中编写并运行 Python 代码：读取文件和表格、计算、画图、写文件。"
        "凡是能用代码查明的事情，都适合交给它。"
    ),
    planner={
        "plan_reasoning": "为什么这样计划，以及上一个结果对计划意味着什么。",
        "init_plan": "全部步骤，带编号和依赖关系。",
        "plan": "要遵循的步骤，带编号。",
        "current_plan_step": "本条消息所执行的步骤。",
        "stop": "工作是否已经完成；如果没有完成，为什么停下。",
        "send_to": "消息发给谁。",
        "message": "对其所说的内容。",
    },
    coder={
        "thought": "任务是什么，如何完成。",
        "reply_type": "reply_content 是要运行的代码，还是文字。",
        "reply_content": "不带 Markdown 围栏的完整代码，或者文字。",
    },
    weekdays=("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
    time="{date} {weekday} {clock}",
    member="- {name}：{intro}",
    nobody="- （没有其他成员）",
    summary="较早对话的摘要（原文不再显示）：",
    context="补充背景：",
    request="用户的请求：",
    task="你的任务，来自 {name}：",
    plan="{name} 按照以下计划工作：\n计划：\n{plan}\n当前步骤：{step}",
    again=_AGAIN,
    fault=f"{{problem}}{_AGAIN}。",
    faults=FaultWords(
        told=f"这个回答无法使用：{{problems}}。{_AGAIN}，即一个 JSON 对象 {{shape}}。",
        between="；",
        listed="、",
        cut_off="回答被截断",
        missing="缺少字段 {names}",
        all_missing="缺少字段 {names}",
        empty="字段 {names} 为空",
        all_empty="字段 {names} 为空",
    ),
    cut_off="回答达到模型的长度上限而被截断，必须写得更短。",
    kept_part="[已截断：回答共有 {length:,} 个字符]",
    no_recipient="缺少 send_to；它必须是以下之一：{names}。",
    own_recipient="send_to 不能是 {me} 自己；它必须是以下之一：{names}。",
    no_member="send_to 是 {given!r}，团队中没有这个成员；它必须是以下之一：{names}。",
    unfinished=(
        "stop 是 InProcess，但消息发给了 User，而这会结束工作。"
        "请把消息发给接下来要行动的成员（{others}），或者用 stop 说明工作为什么结束：{stops}。"
    ),
    unfinished_alone=("stop 是 InProcess，但消息发给了 User，而这会结束工作。请用 stop 说明工作为什么结束：{stops}。"),
    reply_type="reply_type 是 {given!r}；它必须是 python 或 text。",
    rules=RuleWords(
        line="{rule}：{names}。",
        allowed_modules="只能导入以下模块",
        blocked_modules="不得导入",
        allowed_functions="只能调用以下函数",
        blocked_functions="不得使用",
        allowed_variables="只能给以下变量赋值",
        listed="、",
        none="无",
        magic="不得使用魔法命令或 shell 命令，pip install 和 conda install 除外。",
    ),
    rules_broken="代码没有运行，因为它违反了以下规则：\n{rules}\n请重新写出完整的代码，并避免上述问题。",
    kernel_lost="代码没有运行。{error} {from_scratch}",
    kernel_ended="代码使内核终止，所有变量都已丢失。{from_scratch}",
    too_slow="代码运行时间过长，已被中断。请改写代码，减少一次所做的工作。",
    code_failed="代码运行失败：{error}\n请找出原因，并重新写出完整的代码；先前运行的结果仍然保留。",
    from_scratch="请重新写出完整的代码，包括它所需要的全部导入和先前的全部步骤。",
    no_reason="没有给出原因",
    answer_now="本轮的工具调用过多；请立即根据已有的内容作答。",
    minutes="你负责记录一个团队的对话。只输出摘要本身，使用纯文本。\n",
    summarise=f"""\
请为接手的人总结下面的对话。保留用户想要什么、作出了哪些决定、查明了什么（名称、数字和路径须准确无误），以及还有什么没有完成。\
把已有的摘要并入新的摘要。

已有的摘要：
{PLACEHOLDER}

对话：""",
)
