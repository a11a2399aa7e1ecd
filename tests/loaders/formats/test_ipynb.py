import json

import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document


def read(cells, **metadata):
    book = {"nbformat": 4, "metadata": metadata, "cells": cells}
    return read_document("a.ipynb", json.dumps(book).encode())


def markdown(text):
    return {"cell_type": "markdown", "source": text}


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_text_and_code_cells_are_read_with_the_language_of_the_kernel():
    cells = [markdown(["# 휴가 분석\n", "연차는 15일"]), code(["x = 1\n", "x"]), markdown("休暇")]
    document = read(cells, kernelspec={"language": "julia"})
    assert document.page_content == ("# 휴가 분석\n연차는 15일\n\n```julia\nx = 1\nx\n```\n\n休暇")
    assert document.metadata["title"] == "휴가 분석"


def test_text_outputs_are_fenced_and_images_omitted():
    outputs = (
        {"output_type": "stream", "text": ["\x1b[31m빨강\x1b[0m\n"]},
        {
            "output_type": "display_data",
            "data": {"image/png": "AAAA", "text/plain": ["<Figure 1>"]},
        },
        {"output_type": "execute_result", "data": {"text/plain": "42"}},
        {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["long"]},
    )
    assert read([code("run()", *outputs)]).page_content == (
        "```python\nrun()\n```\n\n```\n빨강\n```\n\n```\n42\n```\n\n```\nValueError: bad\n```"
    )


def test_data_frames_become_tables():
    page = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    output = {"output_type": "execute_result", "data": {"text/html": page, "text/plain": "a b"}}
    assert read([code("", output)]).page_content == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_long_outputs_are_truncated():
    text = read([code("", {"output_type": "stream", "text": "x" * 5000})]).page_content
    assert text == "```\n" + "x" * 4000 + "\n[... cut: 1000 more characters]\n```"


def test_images_in_text_cells_become_their_alternative_text():
    text = "A ![plan](data:image/png;base64,AAAA) and ![photo](attachment:a.png)."
    assert read([markdown(text)]).page_content == "A plan and photo."


def test_notebooks_of_format_3_are_read():
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Days"},
        {
            "cell_type": "code",
            "language": "python",
            "input": "1 + 1",
            "outputs": [{"output_type": "pyout", "text": ["2"]}],
        },
    ]
    book = {"nbformat": 3, "worksheets": [{"cells": cells}], "metadata": {}}
    text = read_document("a.ipynb", json.dumps(book).encode()).page_content
    assert text == "## Days\n\n```python\n1 + 1\n```\n\n```\n2\n```"


@pytest.mark.parametrize(
    ("data", "reason"), [(b'{"cells": 1}', "not a notebook"), (b'{"cells": [', "invalid at line 1")]
)
def test_files_that_are_not_notebooks_are_rejected(data, reason):
    with pytest.raises(UnreadableError, match=reason):
        read_document("a.ipynb", data)
