"""The texts of the forms for sources: their kinds, their fields, and the test."""

from ui.english.fixed import fixed
from ui.english.plural import Plural

ADD_SOURCE = "Add a source"
SOURCE_KIND = "Kind of source"
SOURCE_KINDS = {
    "directory": "Folder",
    "confluence": fixed("Confluence"),
    "google_drive": fixed("Google Drive"),
    "catalogue": "Catalogue of places",
    "upload": "Uploaded files",
}
# A field that is another thing in one kind of source has texts of its own there: KIND.FIELD.
SOURCE_FIELDS = {
    "path": "Folder or file on the machine Footnote runs on",
    "catalogue.path": "Description (catalogue.yaml) on the machine Footnote runs on",
    "include": "Only paths that match, one pattern a line",
    "exclude": "No paths that match, one pattern a line",
    "box": "Box",
    "files": "Files",
    "login": "Sign in with",
    "scope": "What to import",
    "url": "Address of the site",
    "email": "E-mail address of the account",
    "user": "User name",
    "api_token": "API token",
    "access_token": "Personal access token",
    "password": "Password",
    "spaces": "Keys of the spaces",
    "trees": "Pages, each with all below it",
    "page_labels": "Labels of the pages",
    "cql": "Query (CQL)",
    "skip_labels": "Leave out pages with these labels",
    "archived": "Archived spaces too",
    "attachments": "Attachments",
    "comments": "Comments",
    "deletions": "Look for deleted pages",
    "service_account": "Key of the service account (JSON)",
    "oauth_token": "Token (JSON)",
    "folders": "Folders",
    "drives": "Shared drives",
    "types": "Only these types of files",
}
SOURCE_FIELD_HINTS = {
    "path": fixed("/home/me/handbook"),
    "catalogue.path": fixed("/home/me/machines/catalogue.yaml"),
    "include": fixed("*.md"),
    "exclude": fixed("drafts/**"),
    "url": fixed("https://company.atlassian.net/wiki"),
    "email": fixed("kim@company.com"),
    "spaces": fixed("DOC, HR"),
    "trees": "Address or number of a page",
    "page_labels": fixed("handbook, policy"),
    "cql": fixed('space = DOC and title ~ "guide"'),
    "skip_labels": fixed("draft"),
    "service_account": "Paste the file's content",
    "oauth_token": "Paste the file's content",
    "folders": fixed("https://drive.google.com/drive/folders/…"),
    "files": fixed("https://docs.google.com/document/d/…"),
    "drives": fixed("https://drive.google.com/drive/folders/…"),
    "types": fixed("gdoc, gsheet, pdf"),
}
SOURCE_FIELD_HELP = {
    "catalogue.path": (
        "The YAML file that says what the columns of the data beside it mean. docs/catalogue.md"
        " tells how to write one."
    ),
    "trees": "Their addresses or numbers, one a line.",
    "cql": "A query in Confluence's own language. What it finds is imported, pages and blog posts.",
    "skip_labels": "A page with one of them is left out, and taken out if it was imported before.",
    "deletions": (
        "Once a day is easier on a large site: between, a refresh asks only for what has changed."
    ),
    "folders": "Their addresses or ids, one a line. Subfolders belong to them.",
    "files": "Their addresses or ids, one a line.",
    "drives": "Their addresses or ids, one a line.",
    "types": "Without any, everything that can be read.",
    "oauth_token": "“python cli.py google-login” signs in and writes it: paste the file.",
}
SOURCE_CHOICES = {
    "login": {
        "cloud": "E-mail and API token (Cloud)",
        "token": "Personal access token (Data Center, Server)",
        "basic": "User name and password (Data Center, Server)",
        "service_account": "A service account",
        "oauth": "A person's account (OAuth)",
    },
    "scope": {
        "spaces": "Spaces",
        "trees": "Page trees",
        "labels": "Pages with labels",
        "cql": "What a query finds",
        "everything": "Everything the account may see",
        "folders": "Folders",
        "files": "Single files",
        "drives": "Shared drives",
    },
    "deletions": {"always": "With every refresh", "daily": "Once a day"},
}
CREDENTIAL_HELP = (
    "It is kept encrypted and never shown again. Or name a variable of the environment that holds"
    " it, such as $FOOTNOTE_SECRET_WIKI: then Footnote keeps only its name."
)
STAYS_AS_NAMED = "Stays as it is: {name}"
STAYS_AS_IT_IS = "Stays as it is"
SOURCE_NAME = "Name"
SOURCE_NAME_HINT = "Its own name"
SOURCE_COLLECTION = "Collection"
SOURCE_COLLECTION_HINT = "Choose one or type a new name"
SOURCE_COLLECTION_HELP = (
    "Conversations can search chosen collections only. Without one, the source's name is its"
    " collection."
)
SOURCE_LABELS = "Labels, separated by commas"
SOURCE_SCHEDULE = "Refresh by itself"
SCHEDULES = {"never": "Never", "hourly": "Every hour", "daily": "Every day", "weekly": "Every week"}
TEST_SOURCE = "Test"
ADD_AND_TRY = "Add and try out"
ADD_AND_TRY_HELP = "Shows what an import would do, and changes nothing in the library."
ADD_AND_IMPORT = "Add and import"
UPLOAD_AND_IMPORT = "Upload and import"
TEST_PASSED = Plural(
    "The test has passed: there is 1 document.", "The test has passed: there are {n:,} documents."
)
TEST_PASSED_MORE = "The test has passed: there are more than {n:,} documents."
TEST_FIRST = "The first: {titles}"
TEST_SKIPPED = Plural("1 file can't be imported.", "{n:,} files can't be imported.")
SKIPPED_FILE = "{name}: {reason}"
OPEN_EXISTING = "Open {name}"
SOURCE_ADDED = "{name} is added."
FILES_REFUSED = Plural("1 file was not taken:", "{n:,} files were not taken:")
