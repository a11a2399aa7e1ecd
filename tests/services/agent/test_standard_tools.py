"""LangChain's standard tests of tools, with real services."""

import pytest
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from domain import LOCAL_USER
from services.agent.agent_tools import answer_tool, document_tools


class _HandbookServices:
    @pytest.fixture(autouse=True)
    def _services(self, imported):
        self.services = imported(embed=True)

    def find_tool(self, name):
        return {tool.name: tool for tool in document_tools(self.services, LOCAL_USER)}[name]


class _SearchDocuments(_HandbookServices):
    @property
    def tool_constructor(self):
        return self.find_tool("search_documents")

    @property
    def tool_invoke_params_example(self):
        return {"query": "annual leave", "k": 3, "mode": "bm25"}


class _AskDocuments(_HandbookServices):
    @property
    def tool_constructor(self):
        return self.find_tool("ask_documents")

    @property
    def tool_invoke_params_example(self):
        return {"question": "How many days of annual leave are there?"}


class _OpenDocument(_HandbookServices):
    @property
    def tool_constructor(self):
        return self.find_tool("open_document")

    @property
    def tool_invoke_params_example(self):
        return {"document_id": self.services.library.documents.list()[0].id, "start": 0}


class _ListSources(_HandbookServices):
    @property
    def tool_constructor(self):
        return self.find_tool("list_sources")


class _PlainAnswer(_HandbookServices):
    @property
    def tool_constructor(self):
        return answer_tool(self.services, LOCAL_USER)

    @property
    def tool_invoke_params_example(self):
        return {"question": "How many days of annual leave are there?"}


class TestSearchDocumentsUnit(_SearchDocuments, ToolsUnitTests):
    pass


class TestSearchDocumentsIntegration(_SearchDocuments, ToolsIntegrationTests):
    pass


class TestAskDocumentsUnit(_AskDocuments, ToolsUnitTests):
    pass


class TestAskDocumentsIntegration(_AskDocuments, ToolsIntegrationTests):
    pass


class TestOpenDocumentUnit(_OpenDocument, ToolsUnitTests):
    pass


class TestOpenDocumentIntegration(_OpenDocument, ToolsIntegrationTests):
    pass


class TestListSourcesUnit(_ListSources, ToolsUnitTests):
    pass


class TestListSourcesIntegration(_ListSources, ToolsIntegrationTests):
    pass


class TestPlainAnswerUnit(_PlainAnswer, ToolsUnitTests):
    pass


class TestPlainAnswerIntegration(_PlainAnswer, ToolsIntegrationTests):
    pass
