"""The ids in addresses."""

from typing import Annotated

from fastapi import Path

ConversationId = Annotated[
    str,
    Path(description="Id of a conversation", examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"]),
]
TurnId = Annotated[
    str, Path(description="Id of a turn", examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
]
SourceId = Annotated[
    str, Path(description="Id of a source", examples=["7c9e6679742540de944be07fc1f90ae7"])
]
ImportId = Annotated[
    str, Path(description="Id of an import", examples=["0f8fad5bd9cb469fa16570867728950e"])
]
DocumentId = Annotated[
    str, Path(description="Id of a document", examples=["9b2f5c1e0d7a4c4f8a3be1f1c2d3e4f5"])
]
LabelId = Annotated[
    str, Path(description="Id of a label", examples=["0c6f1d2e3b4a59687786950a1b2c3d4e"])
]
