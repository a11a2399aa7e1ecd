"""A loader that has listed nothing reads the same: several workers read a site together."""

from tests.loaders.confluence.reading import pages_of, refs_of


def test_another_loader_reads_the_same_documents_in_their_listed_version(docs):
    low = next(key for key, page in docs.visible(archived=True).items() if page.title == "Low")
    docs.attach(low, "notes.txt", b"The notes.")
    listing = pages_of(docs)
    assert listing.reads_without_listing
    refs = refs_of(listing.list())
    assert len(refs) > 4
    for ref in refs.values():
        elsewhere = pages_of(docs).read(ref)
        assert elsewhere == listing.read(ref)
        assert elsewhere.metadata["version"] == ref.version
