"""Reads Confluence with LangChain's ConfluenceLoader and prints the documents.

Run by the Python of .venv-oracle (`make .venv-oracle/.ready`) and never imported, since its
dependencies conflict with Footnote's. Reads JSON from stdin: `url`, `cloud`, `credentials`, and
`load` (arguments of the loader, such as space_key, page_ids, label, or cql); prints a JSON list
of {id, title, source, text}.
"""

import json
import sys
import warnings


def read(url: str, cloud: bool, credentials: dict, load: dict) -> list[dict]:
    warnings.simplefilter("ignore")  # langchain-community prints a deprecation warning
    from langchain_community.document_loaders import ConfluenceLoader

    loader = ConfluenceLoader(url=url, cloud=cloud, max_pages=10_000, **credentials, **load)
    return [
        {name: document.metadata[name] for name in ("id", "title", "source")}
        | {"text": document.page_content}
        for document in loader.load()
    ]


if __name__ == "__main__":
    json.dump(read(**json.load(sys.stdin)), sys.stdout)
