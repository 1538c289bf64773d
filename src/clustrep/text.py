"""Parts of sentences: lists, plurals, and the most similar name; and text that is harmless wherever it is shown."""

from __future__ import annotations

import ast
import difflib
import html
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_SHOWN = 5  # items of a list

N_LETTERS = 60  # of a cell


def listing(items: Iterable[object], shown: int = N_SHOWN) -> str:
    """List the first items, printable, and the number of those that are left out.

    Parameters
    ----------
    items : iterable
        Whatever has a text; long ones are cut.
    shown : int, default=5
        How many are listed.

    Returns
    -------
    str

    Examples
    --------
    >>> listing("abcdefg", 3)
    'a, b, c and 4 more'
    """
    items = list(items)
    more = f" and {len(items) - shown} more" if len(items) > shown else ""
    return ", ".join(cut(printable(str(item)), 2 * N_LETTERS) for item in items[:shown]) + more


def cut(text: str, length: int = N_LETTERS) -> str:
    """Shorten a text that is too long to be shown."""
    return text if len(text) <= length else f"{text[:length]}…"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "study"), plural(3, "study"), plural(12_000, "sample")
    ('1 study', '3 studies', '12,000 samples')
    """
    if count != 1:
        noun = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun}"


def p_text(value: float) -> str:
    """Write a p-value with two digits, never 0.

    Examples
    --------
    >>> p_text(0.0371), p_text(0.00002), p_text(1.0), p_text(float("nan"))
    ('p = 0.037', 'p < 0.001', 'p = 1', 'p not known')
    """
    if math.isnan(value):
        return "p not known"
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def notebook_html(sentences: Iterable[str], table: Any) -> str:
    """Write what a notebook shows: sentences, and a table (a DataFrame) without its index, twenty rows at most."""
    said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
    options: dict[str, Any] = {"index": False, "max_rows": 20, "na_rep": "–", "border": 0, "justify": "left"}
    return f"<div>{said}{table.to_html(float_format='{:.2f}'.format, **options) if len(table) else ''}</div>"


def nearest(word: object, choices: Iterable[object]) -> str:
    """Return a question if a choice is similar to a word, else nothing.

    Parameters
    ----------
    word : object
        What was written.
    choices : iterable
        What there is.

    Returns
    -------
    str
        With a space in front, to follow a sentence.

    Examples
    --------
    >>> nearest("replicablity", ["replicability", "stability"])
    " Did you mean 'replicability'?"
    >>> nearest("xyz", ["replicability", "stability"])
    ''
    """
    by_lower_case = {str(choice).lower(): str(choice) for choice in choices if str(choice) != str(word)}
    close = difflib.get_close_matches(str(word).lower(), by_lower_case, n=1)
    return f" Did you mean {by_lower_case[close[0]]!r}?" if close else ""


# ---------------------------------------------------------------------------------------------------------------------
# text that others wrote

# What moves the cursor, sets the clipboard, changes the direction of writing or is no character: controls, marks of
# direction, ends of lines and paragraphs, tags, halves of characters and noncharacters.
UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\uffff"
    "\U000e0000-\U000e007f]"
)

SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str, *, lines: bool = False) -> str:
    r"""Show what a terminal would obey as escapes, those of JSON; with `lines`, the ends of lines are kept.

    Examples
    --------
    >>> print(printable("\x1b[2Jname\u202e"))
    \u001b[2Jname\u202e
    """
    return UNPRINTABLE.sub(lambda match: match[0] if lines and match[0] == "\n" else _escaped(match[0]), text)


def said_by(error: BaseException, length: int = 200) -> str:
    """Return the first line of what an error of someone else's code says, printable; "" if it says nothing."""
    try:
        words = str(error).strip()
    except Exception:  # its own code may fail, too
        return ""
    return printable(words.split("\n")[0][:length]).rstrip(".")


def _escaped(letter: str) -> str:
    if letter in SHORT_ESCAPES:
        return SHORT_ESCAPES[letter]
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


# A text that a spreadsheet takes for a formula; with apostrophes in front, one that looks like it was guarded.
FORMULA = re.compile(r"'*[=+\-@\t\r].+", re.DOTALL)

GUARDED = re.compile(r"'+[=+\-@\t\r].+", re.DOTALL)

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def for_spreadsheet(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula; numbers stay.

    Examples
    --------
    >>> for_spreadsheet("=1+1"), for_spreadsheet("-1.5"), for_spreadsheet("+")
    ("'=1+1", '-1.5', '+')
    """
    return f"'{text}" if FORMULA.fullmatch(text) and not NUMBER.fullmatch(text) else text


def from_spreadsheet(text: str) -> str:
    """Remove the apostrophe that `for_spreadsheet` put before a text.

    Examples
    --------
    >>> from_spreadsheet("'=1+1"), from_spreadsheet("'t Hart")
    ('=1+1', "'t Hart")
    """
    return text[1:] if GUARDED.fullmatch(text) else text


# ---------------------------------------------------------------------------------------------------------------------
# Sentences about the cells of a table that are not numbers


N_CELLS_EXAMINED = 1000  # of a column, to find out how its numbers are written

NUMBER_IN_CELL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?|nan", re.IGNORECASE)

# How numbers may be written that are not read as numbers, and what to do about it.
NUMBER_FORMATS = (
    (
        re.compile(r"(?![+-]?[1-9]\d{0,2},\d{3}$)[+-]?\d+,\d+"),
        "The numbers seem to have decimal commas: write them with points.",
    ),
    (
        re.compile(r"[+-]?[1-9]\d{0,2},\d{3}"),
        "The comma may be a thousands separator or a decimal comma: write the number without it, or with a point.",
    ),
    (
        re.compile(r"[+-]?\d{1,3}([,. '’_]\d{3})+([.,]\d+)?"),
        "The numbers seem to have thousands separators: write them without, and with decimal points.",
    ),
)


class Texts(NamedTuple):
    """What a column holds besides numbers."""

    cells: dict[int, str]  # by row; none of those that are numbers written as text
    are_few: bool  # less than half of the column
    example: str


def texts_of(column: NDArray[Any]) -> Texts:
    """Collect the cells of a column that are not numbers."""
    import pandas as pd

    values = column.tolist() if column.dtype.kind == "O" else [str(value) for value in column]
    present = {i: value for i, value in enumerate(values) if not (pd.api.types.is_scalar(value) and pd.isna(value))}
    cells = {i: str(value) for i, value in present.items() if not NUMBER_IN_CELL.fullmatch(str(value).strip())}
    return Texts(cells, 0 < len(cells) < len(present) / 2, str(next(iter((cells or present).values()))))


ROLES = {"label": "if that is the samples' known class", "study_key": "if it names their study"}  # of a column of text


def not_numeric(columns: Mapping[str, Texts], samples: Sequence[str], subject: str, roles: Sequence[str]) -> str:
    """Say which columns, or where these are few, which cells, are not numbers."""
    whole = {name: texts for name, texts in columns.items() if not texts.are_few}
    if not whole:
        places = [(text, samples[i], name) for name, texts in columns.items() for i, text in texts.cells.items()]
        return text_sentence(places, subject)
    examples = [f"{name!r} (such as {cut(texts.example)!r})" for name, texts in whole.items()]
    examined = [text for texts in whole.values() for text in islice(texts.cells.values(), N_CELLS_EXAMINED)]
    advice = "Leave columns of text out."
    if any(not texts.cells for texts in whole.values()):
        advice = "Convert numbers that are written as text to numbers."
    elif roles:
        uses = [f"{argument(role, next(iter(whole)))} {ROLES[role]}" for role in roles]
        advice = (
            f"Leave columns of text out, or use {', '.join(uses)}. {argument('gower', True)} takes categories, for "
            "Gower's distance."
        )
    advice = _number_advice(examined) or advice
    return f"{subject} has {plural(len(whole), 'non-numeric column')}: {listing(examples, 3)}. {advice}"


def text_sentence(places: Sequence[tuple[str, str, str]], subject: str) -> str:
    """Say that a few cells, each given with its sample and feature, are not numbers."""
    shown = [f"{cut(text)!r} at sample {sample!r}, feature {feature!r}" for text, sample, feature in places[:3]]
    more = f" and {len(places) - 3:,} more" if len(places) > 3 else ""
    remedy = "Write numbers there, or drop those samples or features."
    advice = _number_advice([text for text, _, _ in places]) or remedy
    return f"{subject} has {plural(len(places), 'non-numeric value')}: {'; '.join(shown)}{more}. {advice}"


def _number_advice(texts: Sequence[str]) -> str:
    """Say what to do about numbers with decimal commas or thousands separators; return "" for other texts."""
    return next((advice for pattern, advice in NUMBER_FORMATS if any(map(pattern.fullmatch, texts))), "")


# ---------------------------------------------------------------------------------------------------------------------
# Sentences of errors and warnings, for the users of Python and of the command line


# The marks are Unicode noncharacters, which are reserved for use within a program: no honest text contains them.
NAME, VALUE, END = "\ufdd0\ufdd1\ufdd2"

ARGUMENT = re.compile(f"{NAME}(.*?){VALUE}(.*?){END}", re.DOTALL)


def argument(name: str, value: object) -> str:
    """Mention an argument in a sentence: `name=value` in Python, an option on the command line.

    Examples
    --------
    >>> sentence = f"Use {argument('header', True)}."
    >>> in_python(sentence)
    'Use header=True.'
    >>> at_command_line(sentence, lambda name, value: f"--{name}")
    'Use --header.'
    """
    plain = str(value) if isinstance(value, str) else value  # NumPy's texts have another repr
    return f"{NAME}{name}{VALUE}{plain!r}{END}"


def option(name: str) -> str:
    """Mention a parameter in a sentence without a value: its name in Python, an option on the command line."""
    return f"{NAME}{name}{VALUE}{END}"


def in_python(sentence: str) -> str:
    """Render a sentence with marks in Python's terms."""
    return ARGUMENT.sub(lambda mention: "=".join(filter(None, mention.groups())), sentence)


def at_command_line(sentence: str, spelling: Callable[..., str]) -> str:
    """Render a sentence with marks in terms of options: `spelling(name)` and `spelling(name, value)` write them."""

    def spelled(mention: re.Match[str]) -> str:
        name, value = mention.groups()
        try:
            return spelling(name, ast.literal_eval(value)) if value else spelling(name)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):  # marks in a text of someone else's
            return "=".join(filter(None, (name, value)))

    return ARGUMENT.sub(spelled, sentence)


class Worded(Exception):  # noqa: N818 - what errors and warnings have in common
    """Has a sentence in which arguments are marked; its text is that sentence in Python's terms, printable."""

    sentence: str

    def __init__(self, sentence: str = ""):
        super().__init__(printable(in_python(sentence), lines=True))
        self.sentence = sentence
