"""Formats of answers in requests."""

from typing import Any, Literal

from pydantic import Field, StrictBool

from api.field_types import Schema
from api.openai.tool_requests import Description, Name


class TextFormat(Schema):
    """The plain text format."""

    type: Literal["text"]
    """Type of the answer"""


class JsonFormat(Schema):
    """A JSON object; the question must say which."""

    type: Literal["json_object"]
    """Type of the answer"""


class NamedSchema(Schema):
    """A JSON Schema with a name for the model."""

    name: Name = Field(examples=["leave"])
    """Name of the format"""
    description: Description | None = Field(None, examples=["Days of leave"])
    """What the format is for"""
    schema_: dict[str, Any] | None = Field(
        None,
        alias="schema",
        examples=[{"type": "object", "properties": {"days": {"type": "integer"}}}],
    )
    """The JSON Schema that the answer must match; null for any JSON"""
    strict: StrictBool | None = None
    """Whether the chat model's server must enforce the schema; null leaves it to the server"""


class SchemaFormat(Schema):
    """JSON that matches a schema."""

    type: Literal["json_schema"]
    """Type of the answer"""
    json_schema: NamedSchema
    """The schema"""


class FlatSchemaFormat(NamedSchema):
    """JSON that matches a schema, as in the Responses API."""

    type: Literal["json_schema"]
    """Type of the answer"""

    @property
    def nested(self) -> SchemaFormat:
        """The format as in chat completions."""
        return SchemaFormat(type=self.type, json_schema=self)


Format = TextFormat | JsonFormat | SchemaFormat
