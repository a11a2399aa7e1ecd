import pytest

from domain.errors import ConflictError
from services.sources.source_kinds import Field, FieldType, require_known_fields

FIELDS = (
    Field("path"),
    Field("include", FieldType.LINES),
    Field("login", FieldType.CHOICE, options=("token", "basic")),
    Field("comments", FieldType.SWITCH),
    Field("files", FieldType.FILES),
    Field("token", secret=True),
)


def test_known_fields_are_accepted_and_none_is_required():
    require_known_fields(FIELDS, {})
    require_known_fields(
        FIELDS, {"path": "/srv", "include": ["*.md"], "login": "token", "comments": False}
    )


def test_an_unknown_field_is_rejected_without_revealing_its_value():
    with pytest.raises(ConflictError, match="no field 'depth'.*path, include") as raised:
        require_known_fields(FIELDS, {"depth": "very secret"})
    assert "secret" not in str(raised.value)


def test_a_kind_without_fields_rejects_every_field():
    with pytest.raises(ConflictError, match="The fields are: none"):
        require_known_fields([], {"path": "/srv"})
