"""Looks at files as tables and prints what it saw as one line of JSON. Runs in a kernel, with NAMES given.

It knows nothing of a file but its name: the separator, the encoding and the date columns are found by trying, and
the call that worked is handed on, so that later code reads the same table.
"""

# mypy: ignore-errors
# ruff: noqa: D103

import codecs
import csv
import json
import os
import re
import warnings
from itertools import pairwise

import pandas as pd

MARK = "file profiles: "
SAMPLE_BYTES = 1 << 18
HUGE_BYTES = 200 << 20
HUGE_ROWS = 200_000
MAX_DISTINCT, MAX_DISTINCT_CHARS = 200, 8_000
MAX_COLUMNS, MAX_CELL_CHARS = 200, 100
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".pq": "parquet",
}
ISO_DATE = re.compile(r"\d{4}([-/.])\d{1,2}\1\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")
NAMED_DATE = re.compile(r"([A-Z][a-z]{2,8}\.? \d{1,2},? \d{4}|\d{1,2}[ -][A-Z][a-z]{2,8}[ -]\d{4})")
SLASHED_DATE = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-]\d{4}( \d{1,2}:\d{2}(:\d{2})?)?")


class NoTableError(Exception):
    """Why a file is no table, in one line."""


def call(function, name, options):
    arguments = "".join(f", {key}={value!r}" for key, value in options.items())
    return f"pd.{function}({name!r}{arguments})"


def read(expression, **more):
    """Evaluates a call that was built above, with limits that are not part of it."""
    text = expression if not more else expression[:-1] + "".join(f", {k}={v!r}" for k, v in more.items()) + ")"
    return eval(text, {"pd": pd})


# --- text --------------------------------------------------------------------------------------------------


def encoding_of(name, sample):
    if sample.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in sample:
        raise NoTableError("it is binary, not text")
    return "utf-8" if decodes(name, "utf-8") else eight_bit_encoding(name, sample)


def eight_bit_encoding(name, sample):
    high = [byte >= 0x80 for byte in sample]
    paired = sum(a and b for a, b in pairwise(high))
    # Chinese stands in pairs of such bytes, the accents of Europe alone.
    if paired * 2 >= sum(high) and decodes(name, "gb18030"):
        return "gb18030"
    return "cp1252" if decodes(name, "cp1252") else "latin-1"


def decodes(name, encoding):
    decoder = codecs.getincrementaldecoder(encoding)()
    left = HUGE_BYTES
    try:
        with open(name, "rb") as file:
            while left > 0 and (chunk := file.read(1 << 20)):
                left -= len(chunk)
                decoder.decode(chunk)
            if left > 0:
                decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def separator_of(text, preferred):
    """The separator that cuts the first lines into the same number of fields, and what number."""
    best = (0.0, 1, preferred)
    for separator in dict.fromkeys((preferred, ",", "\t", ";", "|")):
        try:
            widths = [len(row) for row in csv.reader(text.splitlines()[:100], delimiter=separator) if row]
        except csv.Error:
            continue
        if widths and widths[0] > 1:
            share = sum(width == widths[0] for width in widths) / len(widths)
            best = max(best, (round(share, 2), widths[0], separator), key=lambda each: each[:2])
    return best


def text_table(name, size, kind):
    with open(name, "rb") as file:
        sample = file.read(SAMPLE_BYTES)
    encoding = encoding_of(name, sample)
    text = sample.decode(encoding, errors="ignore")
    if not text.strip():
        raise NoTableError("it holds no text")
    share, width, separator = separator_of(text, "\t" if kind == "tsv" else ",")
    if kind == "other" and (width < 2 or share < 0.9):
        raise NoTableError("it is text, but no table was found in it")
    options = {}
    if separator != ",":
        options["sep"] = separator
    if encoding != "utf-8":
        options["encoding"] = encoding
    return csv_table(name, size, "tsv" if separator == "\t" else "csv", options)


def csv_table(name, size, kind, options):
    limit = {"nrows": HUGE_ROWS} if size > HUGE_BYTES else {}
    notes = []
    try:
        frame = read(call("read_csv", name, options), **limit)
    except pd.errors.ParserError as error:
        options["on_bad_lines"] = "skip"
        try:
            frame = read(call("read_csv", name, options), **limit)
        except (pd.errors.ParserError, ValueError):
            raise NoTableError(first_line(error)) from None
        notes.append("lines with too many fields are left out: " + first_line(error))
    if not isinstance(frame.index, pd.RangeIndex):
        options["index_col"] = False
        frame = read(call("read_csv", name, options), **limit)
        notes.append("its lines have more fields than its head; the last ones are left out")
    frame, options = with_dates(frame, options, lambda each: read(call("read_csv", name, each), **limit), "parse_dates")
    rows = len(frame)
    if limit and rows == HUGE_ROWS:
        rows = count_lines(name) - 1
        notes.append(f"it is large: all but the number of rows is of its first {HUGE_ROWS} rows")
    return kind, call("read_csv", name, options), frame, rows, notes


def count_lines(name):
    lines = 0
    with open(name, "rb") as file:
        while chunk := file.read(1 << 22):
            lines += chunk.count(b"\n")
            last = chunk[-1:]
    return lines + (last != b"\n")


# --- the other formats -------------------------------------------------------------------------------------


def json_table(name, size, kind):
    if size > HUGE_BYTES:
        raise NoTableError(f"it is larger than {HUGE_BYTES >> 20} MiB; read it in pieces")
    options = {"lines": True} if kind == "jsonl" else {}
    try:
        frame = read(call("read_json", name, options))
    except ValueError as error:
        raise NoTableError(first_line(error)) from None
    if not isinstance(frame, pd.DataFrame):
        raise NoTableError("it is JSON, but no list of records")
    frame, options = with_dates(frame, options, lambda each: read(call("read_json", name, each)), "convert_dates")
    return kind, call("read_json", name, options), frame, len(frame), []


def excel_table(name, size, kind):
    with pd.ExcelFile(name) as book:
        sheets = [str(each) for each in book.sheet_names]
    frame = read(call("read_excel", name, {}))
    notes = [f"it has {len(sheets)} sheets, this is the first: {', '.join(sheets[:10])}"] if len(sheets) > 1 else []
    return kind, call("read_excel", name, {}), frame, len(frame), notes


def parquet_table(name, size, kind):
    frame = read(call("read_parquet", name, {}))
    return kind, call("read_parquet", name, {}), frame, len(frame), []


READERS = {
    "csv": text_table,
    "tsv": text_table,
    "other": text_table,
    "jsonl": json_table,
    "json": json_table,
    "xlsx": excel_table,
    "parquet": parquet_table,
}


# --- dates -------------------------------------------------------------------------------------------------


def with_dates(frame, options, again, option):
    """Reads anew with the columns as dates that are dates without doubt; else leaves all as it was."""
    found, day_first = [], False
    for column in frame.columns:
        if isinstance(column, str) and kind_of(frame[column]) == "text":
            looks, days = looks_like_dates(frame[column].dropna())
            if looks:
                found.append(column)
                day_first |= days
    if not found or (day_first and option != "parse_dates"):
        return frame, options
    wanted = {**options, option: found, **({"dayfirst": True} if day_first else {})}
    try:
        dated = again(wanted)
    except (ValueError, TypeError):
        return frame, options
    kept = [column for column in found if kind_of(dated[column]) == "date"]
    whole = all(dated[column].isna().sum() == frame[column].isna().sum() for column in kept)
    if kept != found or not whole or len(dated) != len(frame):
        return frame, options
    return dated, wanted


def looks_like_dates(values):
    texts = values.astype(str).unique()[:2000]
    if not len(texts):
        return False, False
    if all(ISO_DATE.fullmatch(text) for text in texts) or all(NAMED_DATE.fullmatch(text) for text in texts):
        return True, False
    parts = [SLASHED_DATE.fullmatch(text) for text in texts]
    if not all(parts):
        return False, False
    first, second = max(int(part[1]) for part in parts), max(int(part[2]) for part in parts)
    # 03/04/2024 alone may be March or April; some value must settle it.
    return (first > 12) != (second > 12), first > 12


# --- columns -----------------------------------------------------------------------------------------------


def kind_of(values):
    types = pd.api.types
    if types.is_bool_dtype(values):
        return "boolean"
    if types.is_integer_dtype(values):
        return "integer"
    if types.is_numeric_dtype(values):
        return "number"
    if types.is_datetime64_any_dtype(values):
        return "date"
    present = values.dropna()
    if isinstance(values.dtype, pd.CategoricalDtype) or present.map(lambda each: isinstance(each, str)).all():
        return "text"
    return "boolean" if present.map(lambda each: isinstance(each, bool)).all() else "mixed"


def text_of(value):
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return ""
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat() if value == value.normalize() else value.isoformat(sep=" ")
    return str(value.item() if hasattr(value, "item") else value)


def column_of(name, values):
    kind = kind_of(values)
    present = values.dropna()
    if kind == "mixed":
        present = present.map(text_of)
    counts = present.value_counts()
    profile = {"name": str(name), "dtype": kind, "missing": int(values.isna().sum()), "distinct_count": len(counts)}
    if len(counts) <= MAX_DISTINCT:
        distinct = [text_of(value) for value in counts.index]
        if sum(map(len, distinct)) <= MAX_DISTINCT_CHARS:
            profile["distinct"] = distinct
    if kind in ("integer", "number", "date") and len(present):
        profile["minimum"], profile["maximum"] = text_of(present.min()), text_of(present.max())
    return profile


def first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def profile_of(name):
    profile = {"name": name, "size_bytes": 0, "format": SUFFIXES.get(os.path.splitext(name)[1].lower(), "other")}
    try:
        profile["size_bytes"] = size = os.stat(name).st_size
        if not size:
            raise NoTableError("it is empty")
        kind, expression, frame, rows, notes = READERS[profile["format"]](name, size, profile["format"])
        if len(frame.columns) > MAX_COLUMNS:
            notes.append(f"only the first {MAX_COLUMNS} of its {len(frame.columns)} columns are listed")
            frame = frame.iloc[:, :MAX_COLUMNS]
        columns = [column_of(column, frame.iloc[:, place]) for place, column in enumerate(frame.columns)]
        firsts = [[text_of(value)[:MAX_CELL_CHARS] for value in row] for row in frame.head(5).itertuples(index=False)]
        profile |= {"format": kind, "read_call": expression, "rows": rows, "columns": columns, "first_rows": firsts}
        profile["problem"] = "; ".join(notes)
    except NoTableError as error:
        profile |= {"format": "other", "problem": str(error)}
    except FileNotFoundError:
        profile |= {"format": "other", "problem": "there is no such file"}
    except Exception as error:
        profile |= {"format": "other", "problem": f"it could not be read: {first_line(error)}"}
    return profile


def clean(value):
    """Without lone surrogates, which no JSON can carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [clean(each) for each in value]
    return {key: clean(each) for key, each in value.items()} if isinstance(value, dict) else value


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(MARK + json.dumps({"files": clean([profile_of(name) for name in NAMES])}, ensure_ascii=False))  # noqa: F821
