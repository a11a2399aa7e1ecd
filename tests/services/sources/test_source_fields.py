import pytest

from errors import ConflictError
from services.sources.source_kinds import Field, FieldType, require_known_fields

FIELDS = (
    Field("path"),
    Field("include", FieldType.LINES),
    Field("login", FieldType.CHOICE, options=("token", "basic")),
    Field("comments", FieldType.SWITCH),
    Field("files", FieldType.FILES),
    Field("token", secret=True),
)


def test_what_fits_the_fields_is_taken_and_nothing_is_required():
    require_known_fields(FIELDS, {})
    require_known_fields(
        FIELDS, {"path": "/srv", "include": ["*.md"], "login": "token", "comments": False}
    )


def test_a_field_that_is_none_of_them_is_refused_without_its_value():
    with pytest.raises(ConflictError, match="no field 'depth'.*path, include") as caught:
        require_known_fields(FIELDS, {"depth": "very secret"})
    assert "secret" not in str(caught.value)


def test_where_there_is_no_field_none_can_be_given():
    with pytest.raises(ConflictError, match="The fields are: none"):
        require_known_fields([], {"path": "/srv"})
