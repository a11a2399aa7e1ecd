"""Passages as the ledger returns them, for testing chains without a library."""

from langchain_core.documents import Document


def passages_of(title, sections, *, document_id="d1"):
    """A document's passages, one for each (heading path, text), with their start offsets."""
    passages, start = [], 0
    for place, (path, text) in enumerate(sections):
        metadata = {
            "document_id": document_id, "title": title, "location": f"{title}.md",
            "version": "1", "page": None, "heading_path": list(path), "start": start,
        }  # fmt: skip
        passages.append(Document(id=f"{document_id}-{place}", page_content=text, metadata=metadata))
        start += len(text) + 2
    return passages


LEAVE = passages_of(
    "Leave policy",
    [
        (["Leave policy"], "# Leave policy\n\nThis policy covers everyone employed in Bristol. "
         "It was last changed in May by the people team."),
        (["Leave policy", "Annual leave"],
         "## Annual leave\n\nHow much is it? New employees get 25 days of annual leave a year. "
         "Annual leave that is not taken by 31 March lapses. Agree annual leave with your lead. "
         "The weather in March is often mild and dry."),
        (["Leave policy", "Sick leave"],
         "## Sick leave\n\nTell your lead before 10:00 on the first day of sick leave. "
         "Up to seven days of sick leave need no note from a doctor. Get well soon, everyone!"),
        (["Leave policy", "Numbers"], "| Grade | Days |\n|---|---|\n| Junior | 25 |"),
    ],
)  # fmt: skip
EXPENSES = passages_of(
    "Expenses",
    [
        (["Expenses"], "# Expenses\n\nThe company pays back what you spend for work."),
        (["Expenses", "Hotels"], "## Hotels\n\nA hotel room may cost up to 120 pounds a night."),
    ],
    document_id="d2",
)
