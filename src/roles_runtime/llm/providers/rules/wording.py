"""What the user reads: results in a sentence or two, and why a question could not be answered."""

from __future__ import annotations

import re

from roles_runtime.llm.providers.rules.choice import Unclear
from roles_runtime.llm.providers.rules.lexicon import Language
from roles_runtime.llm.providers.rules.plotcode import group_words, measure_words
from roles_runtime.llm.providers.rules.query import Filter, Query
from roles_runtime.plugins import names

_FLOAT = re.compile(r"(?<![\w.])-?\d+\.\d{3,}(?:[eE][+-]?\d+)?(?![\w.])")
_WRAPPED = re.compile(r"\Anp\.\w+\((.*)\)\Z", re.DOTALL)
_TIMESTAMP = re.compile(r"\ATimestamp\('(\d{4}-\d\d-\d\d)(?: 00:00:00)?[^']*'\)\Z")
_TRAILER = re.compile(r"\n?(?:Name: [^\n]*, )?(?:Length: \d+, )?dtype: \w+(?:\[[^\]]*\])?\s*\Z")
_EMPTY = ("nan", "None", "NaT", "[]", "<NA>", "")

_NO_LLM = frozenset({"rules", "scripted"})

_ABOUT = {
    "en": (
        "I am no LLM but a small set of fixed rules. I can count rows, give sums, averages, medians, minima and "
        "maxima, distinct and missing values, the first few by an amount, groups by one or two columns or by parts of "
        "a date, filters, sorting, correlations, and line, bar, scatter and histogram plots, in English and Chinese. "
        "For anything else connect an LLM: `--model provider:name` (installed: {providers})."
    ),
    "zh": (
        "我不是大语言模型，只是一小套固定的规则。我会数行数，求总和、平均值、中位数、最小值和最大值，"
        "不同的值和缺失值，按数值取前几名，按一列或两列或按日期的年、季度、月、星期分组，筛选、排序、相关系数，"
        "以及折线图、柱状图、散点图和直方图，中英文都行。"
        "其他问题请接入大语言模型：`--model provider:name`（已安装：{providers}）。"
    ),
}
_SAY = {
    "no_file": {
        "en": "There is no table yet. Give me a file by `--file FILE`, or by `/load FILE` in the chat.",
        "zh": "现在还没有表格。请用 `--file 文件` 给我一个文件，或在对话里用 `/load 文件`。",
    },
    "no_table": {
        "en": "None of the files could be read as a table: {files}.",
        "zh": "这些文件都不能当作表格读取：{files}。",
    },
    "words": {"en": "I did not understand: {words}.", "zh": "这些词我不懂：{words}。"},
    "way": {
        "en": "I know the words, but not what they ask for together; say it in a simpler way.",
        "zh": "这些词我都认识，但合起来不知道问的是什么；请换个简单的说法。",
    },
    "meanings": {
        "en": "This could mean more than one thing; name the column and the operation.",
        "zh": "这句话可能有几种意思；请说出列名和要做的运算。",
    },
    "files": {"en": "Which file do you mean: {files}?", "zh": "您指的是哪个文件：{files}？"},
    "columns": {"en": "The columns of {file} are: {columns}.", "zh": "{file} 的列有：{columns}。"},
    "failed": {"en": "It could not be worked out: {reason}", "zh": "没能算出来：{reason}"},
    "nobody": {
        "en": "Nobody in this team runs code; add a CodeInterpreter to it.",
        "zh": "这个团队里没有人能运行代码；请加上 CodeInterpreter。",
    },
    "empty": {
        "en": "There is no answer to this in the data: nothing fits.",
        "zh": "数据里没有这个答案：没有符合条件的行。",
    },
    "file": {"en": "The plot is in {files}.", "zh": "图在 {files}。"},
}  # fmt: skip
_OPS_ZH = {
    "sum": "总和",
    "mean": "平均值",
    "median": "中位数",
    "min": "最小值",
    "max": "最大值",
    "count": "行数",
    "nunique": "不同值的个数",
}
_KINDS = {
    "rows": ("The rows", "符合的行"),
    "distinct": ("The values", "取值"),
    "describe": ("A summary", "概况"),
    "columns": ("The columns", "列"),
    "types": ("The types of the columns", "各列的类型"),
    "shape": ("The size", "大小"),
    "missing": ("Missing values", "缺失值"),
    "correlation": ("The correlation", "相关系数"),
    "histogram": ("The distribution", "分布"),
}
_COMPARISONS_EN = {
    "==": "is",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
    "in": "is one of",
    "missing": "is missing",
}
_COMPARISONS_ZH = {"==": "为", "<": "小于", "<=": "不超过", ">": "大于", ">=": "不小于", "in": "为", "missing": "缺失"}


def say(key: str, language: Language, **values: str) -> str:
    """One of the fixed sentences."""
    return _SAY[key][language].format(**values)


def about_me(language: Language) -> str:
    """What the model is and can do."""
    installed = ", ".join(name for name in names("provider") if name not in _NO_LLM)
    return _ABOUT[language].format(providers=installed)


def refusal(unclear: Unclear, language: Language, columns: tuple[str, tuple[str, ...]] | None) -> str:
    """Why a question is refused, what can be asked, and how to have an LLM."""
    if unclear.files:
        return say("files", language, files=", ".join(unclear.files))
    if unclear.words:
        quoted = ", ".join(f"“{word}”" for word in unclear.words[:12])
        first = say("words", language, words=quoted)
    else:
        first = say("meanings" if unclear.meanings > 1 else "way", language)
    lines = [first]
    if columns is not None:
        lines.append(say("columns", language, file=columns[0], columns=", ".join(columns[1][:40])))
    return "\n".join([*lines, about_me(language)])


# -- results


def answer(query: Query, result: str, files: tuple[str, ...], language: Language) -> str:
    """The result in words: one sentence and the figure, or a caption and the table."""
    value = _plain(result)
    if value in _EMPTY or value.startswith(("Empty DataFrame", "Series([]")):
        return say("empty", language)
    caption = _caption(query, language)
    if "\n" in value:
        text = f"{caption}{'：' if language == 'zh' else ':'}\n\n```\n{value}\n```"
    else:
        text = f"{caption}{'：' if language == 'zh' else ': '}{value}{'。' if language == 'zh' else ''}"
    if files:
        text += ("\n" if "\n" in value else " ") + say("file", language, files=", ".join(files))
    return text


def _plain(result: str) -> str:
    value = result.strip("\n")
    wrapped = _WRAPPED.match(value)
    if wrapped:
        value = wrapped[1]
    stamp = _TIMESTAMP.match(value)
    if stamp:
        value = stamp[1]
    return _FLOAT.sub(_rounded, _TRAILER.sub("", value)).rstrip()


def _rounded(match: re.Match[str]) -> str:
    """Two decimals in the same width, more where two would leave nothing of a small number."""
    number = float(match[0])
    text = f"{number:.2f}" if abs(number) >= 0.1 or number == 0 else f"{number:.3g}"
    width = len(match[0]) if "\n" in match.string else 0
    return text.rjust(width)


def _caption(query: Query, language: Language) -> str:
    return _caption_zh(query) if language == "zh" else _caption_en(query)


def _caption_en(query: Query) -> str:
    conditions = " and ".join(_condition_en(each) for each in query.filters)
    return _subject_en(query) + (f" where {conditions}" if conditions else "")


def _subject_en(query: Query) -> str:
    groups = " and ".join(group_words(group) for group in query.groups)
    number, way = abs(query.limit), "highest" if query.descending else "lowest"
    if query.kind == "rows" and number:
        rows = "row" if number == 1 else f"{number} rows"
        if query.order:
            return f"The {rows} with the {way} {query.order}"
        return f"The {'first' if query.limit > 0 else 'last'} {rows}"
    if query.kind == "aggregate":
        measures = _measures_en(query)
        if number and query.order is not None:
            return (
                f"The {groups} with the {way} {measures}"
                if number == 1
                else f"The {number} {way} {measures} by {groups}"
            )
        return f"{measures[:1].upper()}{measures[1:]}" + (f" by {groups}" if groups else "")
    joined = " and ".join(query.columns) if len(query.columns) < 4 else f"{len(query.columns)} columns"
    return _KINDS[query.kind][0] + (f" of {joined}" if query.columns else "")


def _measures_en(query: Query) -> str:
    return " and ".join(measure_words(measure) for measure in query.measures)


def _caption_zh(query: Query) -> str:
    conditions = "，".join(_condition_zh(each) for each in query.filters)
    return _subject_zh(query) + (f"（{conditions}）" if conditions else "")


def _subject_zh(query: Query) -> str:
    groups = "、".join(group_words(group) for group in query.groups)
    number, way = abs(query.limit), "最高" if query.descending else "最低"
    if query.kind == "rows" and number:
        if query.order:
            return f"{query.order}{way}的{number}行"
        return f"{'前' if query.limit > 0 else '最后'}{number}行"
    if query.kind == "aggregate":
        measures = "、".join(f"{each.column}{'的' if each.column else ''}{_OPS_ZH[each.op]}" for each in query.measures)
        if number and query.order is not None:
            return f"{measures}{way}的{f'{number}个' if number > 1 else ''}{groups}"
        return f"按{groups}分组，{measures}" if groups else measures
    return f"{'、'.join(query.columns[:4])}{'的' if query.columns else ''}{_KINDS[query.kind][1]}"


def _condition_en(filter: Filter) -> str:
    name = f"the {filter.part} of {filter.column}" if filter.part not in ("", "date") else filter.column
    if filter.op == "between":
        return f"{name} is between {filter.values[0]} and {filter.values[1]}"
    return f"{name} {_COMPARISONS_EN[filter.op]} {', '.join(str(value) for value in filter.values)}".rstrip()


def _condition_zh(filter: Filter) -> str:
    if filter.op == "between":
        return f"{filter.column}在{filter.values[0]}到{filter.values[1]}之间"
    values = "、".join(str(value) for value in filter.values)
    return f"{filter.column}{_COMPARISONS_ZH[filter.op]}{values}"
