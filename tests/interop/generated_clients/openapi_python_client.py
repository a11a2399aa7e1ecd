"""Uploads a file, asks a question, and asks it again as a stream, with openapi-python-client.

Run by the Python of .venv-clients (`make .venv-clients/.ready`), never imported.
"""

import io
import json
import sys

from footnote_client import AuthenticatedClient
from footnote_client.api.ask import ask, ask_stream
from footnote_client.api.documents import upload_files
from footnote_client.models import QuestionRequest, UploadForm
from footnote_client.types import File

url, key, question = sys.argv[1:]
client = AuthenticatedClient(url, key)
content = io.BytesIO(b"# Parking\n\nVisitors park on level 2.\n")
form = UploadForm(files=[File(content, "parking.md", "text/markdown")])
uploaded = upload_files.sync(client=client, body=form, box="Building")
turn = ask.sync(client=client, body=QuestionRequest(question=question))
events = ask_stream.sync(client=client, body=QuestionRequest(question=question)).split("\r\n\r\n")
tokens = [event.partition("data: ")[2] for event in events if event.startswith("event: token")]
streamed = "".join(json.loads(token)["text"] for token in tokens)
result = {"accepted": uploaded.accepted, "answer": turn.answer, "streamed": streamed}
json.dump(result, sys.stdout)
