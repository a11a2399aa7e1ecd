"""The API when its ledger is damaged while it runs."""

import pytest
from sqlalchemy import text

from api.problems import MEDIA_TYPE, Problem


@pytest.mark.parametrize("path", ["documents", "sources", "conversations"])
@pytest.mark.parametrize("damage", ["UPDATE {} SET {} = x'ff61'", "DROP TABLE {}"])
def test_damaged_records_return_a_problem_with_the_recovery(build_client, path, damage):
    client = build_client(embed=True)
    client.post("/api/v1/ask", json={"question": "How many days of annual leave?"})
    column = {"documents": "imported_at", "sources": "options", "conversations": "search"}[path]
    with client.services.parts.database.write() as session:
        session.execute(text("PRAGMA defer_foreign_keys = ON"))
        session.execute(text(damage.format(path, column)))
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == MEDIA_TYPE
    problem = Problem.model_validate(answer.json())
    assert "footnote.db" in problem.detail
    assert "cli.py check" in problem.detail
    assert not problem.retryable
