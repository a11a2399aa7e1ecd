"""People who open pages in browser sessions, without a browser: the sessions' WebSockets."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamlit.proto.BackMsg_pb2 import BackMsg

WAIT_S = 120
PAGES = ("library", "imports", "retrieval_lab", "app_settings", "status", "")
STAY_S = 5.0


@dataclass
class Visitors:
    """People who open the chat, ask there, look at other pages, and close the browser.

    They continue with new sessions until `stop` is set. The first session asks the first question.
    `failed` counts runs of page scripts that did not end well, by page.
    """

    address: str
    count: int
    questions: Sequence[str]
    stop: asyncio.Event
    sessions: int = 0
    runs: int = 0
    failed: Counter[str] = field(default_factory=Counter)

    async def visit(self) -> None:
        """Visit until `stop` is set."""
        await asyncio.gather(*(self._keep_visiting(random.Random(n)) for n in range(self.count)))

    async def _keep_visiting(self, chance: random.Random) -> None:
        while not self.stop.is_set():
            try:
                await self._visit_once(chance)
            except (OSError, TimeoutError, ValueError) as error:
                self.failed[f"session: {error!r}"[:200]] += 1
            self.sessions += 1

    async def _visit_once(self, chance: random.Random) -> None:
        from websockets.asyncio.client import connect

        url = f"ws://{self.address}/_stcore/stream"
        async with connect(url, subprotocols=["streamlit"], max_size=None) as session:  # type: ignore[list-item]
            chat_input = await self._run(session, _opening(""))
            if chat_input:
                question = chance.choice(self.questions) if self.sessions else self.questions[0]
                await self._run(session, _question(chat_input, question))
            for page in chance.sample(PAGES, 3):
                if self.stop.is_set():
                    return
                await asyncio.sleep(chance.expovariate(1 / STAY_S))
                await self._run(session, _opening(page))

    async def _run(self, session: Any, request: "BackMsg") -> str:
        """Run a page's script to its end; returns the id of its chat input, "" if it has none."""
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        await session.send(request.SerializeToString())
        message, chat_input = ForwardMsg(), ""
        async with asyncio.timeout(WAIT_S):
            while message.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY or (
                message.WhichOneof("type") != "script_finished"
            ):
                message.ParseFromString(await session.recv())
                element = message.delta.new_element
                chat_input = element.chat_input.id or chat_input
                if element.WhichOneof("type") == "exception":
                    self.failed[element.exception.message[:200]] += 1
        self.runs += 1
        return chat_input


def _opening(page: str) -> "BackMsg":
    from streamlit.proto.BackMsg_pb2 import BackMsg

    request = BackMsg()
    request.rerun_script.query_string = ""
    request.rerun_script.page_name = page
    return request


def _question(chat_input: str, question: str) -> "BackMsg":
    request = _opening("")
    state = request.rerun_script.widget_states.widgets.add()
    state.id = chat_input
    state.chat_input_value.data = question
    return request
