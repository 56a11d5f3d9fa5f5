"""Files as spreadsheets and old programs write them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.csv_reader import MAX_LINE, CsvReader, InvalidFile, Record, TextLines
from notifications.features.audiences.rules.upload_lines import (
    InvalidUpload,
    LineFault,
    UploadFormat,
    UploadLine,
    read_lines,
)

SPREADSHEETS: Final[dict[str, Callable[[str], bytes]]] = {
    "UTF-8": str.encode,
    "UTF-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16 of Excel's Unicode text": lambda text: text.replace(",", "\t").encode("utf-16"),
    "UTF-16 with the high byte first": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "semicolons": lambda text: text.replace(",", ";").encode(),
    "a line that names the separator": lambda text: ("sep=;\r\n" + text.replace(",", ";")).encode(),
    "tabs": lambda text: text.replace(",", "\t").encode(),
    "line feeds": lambda text: text.replace("\r\n", "\n").encode(),
    "line ends of old Macs": lambda text: text.replace("\r\n", "\r").encode(),
    "no line end at the end": lambda text: text.removesuffix("\r\n").encode(),
    "a byte 0x1A at the end": lambda text: text.encode() + b"\x1a",
    "empty lines": lambda text: text.replace("\r\n", "\r\n\r\n").encode(),
    "lines of separators": lambda text: text.encode() + b",,,,\r\n",
}
"""Encoders of a table with CRLF and commas."""


class Bytewise:
    """A stream that gives few bytes at a time."""

    def __init__(self, file: bytes, size: int) -> None:
        self._file, self._size = io.BytesIO(file), size

    def read(self, _size: int, /) -> bytes:
        """Return the next bytes."""
        return self._file.read(self._size)


def uploaded(file: bytes) -> list[UploadLine | LineFault]:
    return list(read_lines(io.BytesIO(file), UploadFormat.CSV))


@pytest.mark.parametrize("name", SPREADSHEETS)
def test_a_file_of_each_spreadsheet_is_taken(name: str) -> None:
    file = SPREADSHEETS[name]("User_ID,code,\r\nu_1,Müller,\r\nu_2,Y,,\r\n")
    found = [
        (each.user_id, each.variables) for each in uploaded(file) if isinstance(each, UploadLine)
    ]
    assert found == [("u_1", '{"code":"Müller"}'), ("u_2", '{"code":"Y"}')]


def test_a_quoted_cell_keeps_its_separators_and_line_ends() -> None:
    (found,) = uploaded(b'user_id;"note"\r\nu_1;"a;b\r\nc, ""d"""\r\n')
    assert isinstance(found, UploadLine)
    assert found.variables == '{"note":"a;b\\r\\nc, \\"d\\""}'


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("u_3,X,Y", "has 3 cells, and the first line names 2 columns"),
        ('u_3,"X" Y', "invalid CSV"),
        (",X", "user_id must be 1 to 128 characters"),
    ],
)
def test_each_other_fault_has_its_line(line: str, fault: str) -> None:
    found = uploaded(f"user_id,code\r\rone\ru_2,X\r{line}\r".encode())
    (wrong,) = (each for each in found if isinstance(each, LineFault))
    assert wrong.number == 5
    assert wrong.detail.startswith(fault)


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        (b"code,name\nX,Y\n", "the first line must name the columns, user_id among them"),
        (b"user_id|code\nu_1|X\n", "with a comma, a semicolon or a tab between two names"),
        (b'user_id,"code" x\nu_1,X\n', "line 1 is invalid CSV"),
        (b"user_id,user_ID\nu_1,X\n", "must differ"),
        (b"\xff\xfeu\x00s\x00e", "the file is no UTF-16"),
        (b"", "the first line must name the columns"),
    ],
)
def test_a_file_without_a_usable_first_line_is_refused(file: bytes, fault: str) -> None:
    with pytest.raises(InvalidUpload, match=fault):
        uploaded(file)


@given(
    rows=st.lists(
        st.tuples(st.text('ab "\n\r,;\té😀', max_size=8), st.text("xy,", min_size=1)), max_size=5
    ),
    name=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    size=st.integers(1, 9),
)
def test_no_cut_of_the_stream_changes_a_record(
    rows: list[tuple[str, str]], name: str, size: int
) -> None:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    lines = ["key,value", *(",".join(map(quoted, row)) for row in rows)]
    file = "\r\n".join(lines).encode(name)
    reader = CsvReader(Bytewise(file, size), required=("key", "value"))
    found = [each.cells for each in reader if isinstance(each, Record)]
    assert found == [list(row) for row in rows]


@pytest.mark.parametrize(
    ("head", "twice"),
    [
        ("channel,address,Address", "address, Address"),
        ("channel,ADDRESS,x,address", "ADDRESS, address"),
        ("channel,address,Reason,REASON", "Reason, REASON"),
        ("channel;address;Channel", "channel, Channel"),
        ("channel,address,reason,reason", "reason, reason"),
    ],
)
def test_two_columns_of_one_name_are_refused_whatever_their_capitals(head: str, twice: str) -> None:
    with pytest.raises(InvalidFile, match=f"must differ in more than capitals: {twice}$"):
        CsvReader(io.BytesIO(head.encode()), required=("channel", "address"), known=("reason",))


def test_further_columns_of_one_name_are_no_fault() -> None:
    reader = CsvReader(io.BytesIO(b"key,x,X,,x\n1,2,3,4,5\n"), required=("key",))
    assert reader.names == ["key", "x", "X", "", "x"]


@pytest.mark.parametrize(
    "line",
    ['u_1,"x\n', 'u_1,"x', '"u_1\n', 'u_1,"x"\nu_2,"\n'],
)
@pytest.mark.parametrize("rest", [0, 900])
def test_a_quote_that_is_not_closed_refuses_the_file(line: str, rest: int) -> None:
    file = "user_id,code\nu_0,X\n" + line + "".join(f"u_{n},X\n" for n in range(rest))
    opened = 3 + line.rstrip("\n").count("\n")
    with pytest.raises(InvalidUpload, match=rf"line {opened}: .*; is a quote not closed\?"):
        uploaded(file.encode())


def test_a_quote_that_a_later_line_closes_refuses_the_file() -> None:
    rows = "".join(f"u_{n},X\n" for n in range(900))
    file = f'user_id,code\nu_0,"x\n{rows}u_900,"y"\nu_901,X\n'
    with pytest.raises(InvalidUpload, match=r"line 2: .*; is a quote not closed\?"):
        uploaded(file.encode())


def test_a_line_without_an_end_is_refused_before_the_file_is_read() -> None:
    stream = Bytewise(b"user_id\n" + b"x" * MAX_LINE * 20, 64 * 1024)
    with pytest.raises(InvalidFile, match="line 2 is longer than 256 KiB"):
        list(TextLines(stream))
    assert len(stream.read(0)) == 64 * 1024, "the rest of the file was not read"
