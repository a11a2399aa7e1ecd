"""Schemas of the events of streams, for the API's description."""

from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from api.field_types import Schema
from api.problems import Problem


@dataclass(frozen=True)
class JsonOf:
    """Describes a string as JSON of that type, for the data of an event."""

    type: Any

    def __get_pydantic_json_schema__(
        self, _schema: object, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema of the string."""
        content = handler(TypeAdapter(self.type).core_schema)
        kind = {"type": "string", "contentMediaType": "application/json"}
        return {**kind, "contentSchema": content}


Name = TypeVar("Name")


class EventOf(Schema, Generic[Name]):
    """An event with this name; subclasses declare its data."""

    event: Name
    """Name of the event"""


class ErrorEvent(EventOf[Literal["error"]]):
    """The last event after a failure."""

    data: Annotated[str, JsonOf(Problem)]
    """What went wrong"""


def stream_responses(schema: str, example: str) -> dict[int | str, dict[str, Any]]:
    """The responses of an operation that streams the events of that schema."""
    return {
        200: {
            "description": "Events in the order of the schema. Lines that begin with a colon keep "
            "the connection alive.",
            "content": {
                "text/event-stream": {
                    "schema": {"$ref": f"#/components/schemas/{schema}"},
                    "example": example,
                }
            },
        }
    }
