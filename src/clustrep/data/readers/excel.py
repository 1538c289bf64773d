"""Sheets of Excel and OpenOffice files, through python-calamine: one study each, read like delimited text."""

from __future__ import annotations

import csv
import datetime
import io
import zipfile
from collections.abc import Iterable
from typing import Any

from clustrep.data.readers.delimited import Records, has_decimal_comma, table_of
from clustrep.data.readers.source import AGAIN, ZIP_MAGIC, file_and_sheet, import_for, in_brief
from clustrep.data.readers.table import Path, Reader, Request, Table, by_study
from clustrep.errors import DataError
from clustrep.execution.forecast import available_memory
from clustrep.text import listing, nearest

MEMORY_OF_XML = 4  # times its unpacked size: 3.4 for a million numbers of 17 digits, most of it cells as Python objects


def read_excel(path: Path, study: str, request: Request) -> Iterable[Table]:
    """Read the sheet that a path names, as in cohorts.xlsx:Mainz, or the only one that holds anything."""
    calamine = import_for(path, "an Excel file", "python_calamine", extra="excel")
    file, sheet = file_and_sheet(path)
    try:
        with open(file, "rb") as stream:
            _check_members(stream)
            workbook = calamine.CalamineWorkbook.from_filelike(stream)
            sheets = {name: _rows(workbook, name) for name in workbook.sheet_names if name == sheet or not sheet}
    except OSError as error:
        raise DataError.unreadable(file, error) from None
    except Exception as error:
        raise DataError(f"{file} is a damaged Excel file ({in_brief(error)}): {AGAIN}.") from None
    if sheet and not sheets:
        names = workbook.sheet_names
        raise DataError(f"{file} has no sheet {sheet!r}; there are {listing(names, 20)}.{nearest(sheet, names)}")
    sheets = {name: rows for name, rows in sheets.items() if rows}
    if not sheets:
        raise DataError(f"{path} is empty: {AGAIN}.")
    if len(sheets) > 1:
        raise DataError(
            f"{file} has {len(sheets)} sheets ({listing(sheets, 20)}): name those to read, as in "
            f"{' '.join(f'{file.name}:{name}' for name in list(sheets)[:2])}. Each is a study."
        )
    (rows,) = sheets.values()
    dates = [cell for cell in [*rows[0], *(row[0] for row in rows)] if isinstance(cell, datetime.date)]
    if dates:
        raise DataError(
            f"{path} has dates among its names ({listing(dates, 3)}), into which Excel changes names such as SEPT2 and "
            "MARCH1: write the names as text."
        )
    text = io.StringIO()
    csv.writer(text, delimiter="\t").writerows([_text(cell) for cell in row] for row in rows)
    records = Records(lambda: io.StringIO(text.getvalue(), newline=""), path, "\t")
    return by_study(table_of(records, study, request), request, str(path))


def _check_members(stream: Any) -> None:
    """Check the checksums and sizes of what a newer file holds, which the library does not check."""
    if stream.read(len(ZIP_MAGIC)) == ZIP_MAGIC:
        archive = zipfile.ZipFile(stream)
        size, room = sum(entry.file_size for entry in archive.infolist()), available_memory()
        if room is not None and MEMORY_OF_XML * size > room:
            raise ValueError(f"its declared size is {size / 1024**3:.1f} GB")
        if (damaged := archive.testzip()) is not None:
            raise ValueError(f"{damaged} is not what was written")
    stream.seek(0)


def _rows(workbook: Any, name: str) -> list[list[Any]]:
    """Return the cells of a sheet without the empty columns at its end."""
    rows = workbook.get_sheet_by_name(name).to_python()
    width = max((j for row in rows for j, cell in enumerate(row, 1) if cell != ""), default=0)
    return [row[:width] for row in rows] if width else []


def _text(cell: Any) -> str:
    """Write a cell as text: whole numbers without a point, all digits of the others; numbers as text with a point."""
    if isinstance(cell, str):
        return cell.replace(",", ".") if has_decimal_comma(cell) else cell
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


EXCEL = Reader(
    kind="an Excel file",
    files="Excel files",
    sniff=lambda beginning: beginning.is_workbook,
    read=read_excel,
    takes=frozenset(["header", "study_key"]),
)
