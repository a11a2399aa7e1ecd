"""The texts of the import page."""

from ui.text.english.text_kinds import Plural, fixed

ADD_SOURCE = "Add a source"
FOLDER = "A folder with its subfolders"
MORE_OPTIONS = "More options"
SOURCE_KIND = "Kind of source"
SOURCE_KINDS = {
    "directory": "Folder",
    "confluence": fixed("Confluence"),
    "google_drive": fixed("Google Drive"),
    "catalogue": "Catalog of places",
    "upload": "Uploaded files",
}
# A field whose meaning depends on the kind of source has separate texts: KIND.FIELD.
SOURCE_FIELDS = {
    "path": "Folder or file on the machine that runs Footnote",
    "catalogue.path": "Description (catalog.yaml) on the machine that runs Footnote",
    "include": "Include paths (one pattern per line)",
    "exclude": "Exclude paths (one pattern per line)",
    "box": "Name for these files",
    "files": "Files",
    "upload.files": "Files, or zip archives of files",
    "login": "Sign in with",
    "scope": "What to import",
    "url": "Site address",
    "email": "Account email address",
    "user": "User name",
    "api_token": "API token",
    "access_token": "Personal access token",
    "password": "Password",
    "spaces": "Space keys",
    "trees": "Pages, including all pages below them",
    "page_labels": "Page labels",
    "cql": "Query (CQL)",
    "skip_labels": "Exclude pages with these labels",
    "archived": "Include archived spaces",
    "attachments": "Attachments",
    "comments": "Comments",
    "mirror_permissions": "Mirror permissions",
    "deletions": "Check for deleted pages",
    "service_account": "Service account key (JSON)",
    "oauth_token": "Token (JSON)",
    "folders": "Folders",
    "drives": "Shared drives",
    "types": "Only these file types",
}
SOURCE_FIELD_HINTS = {
    "path": fixed("/home/me/handbook"),
    "catalogue.path": fixed("/home/me/machines/catalog.yaml"),
    "include": fixed("*.md"),
    "exclude": fixed("drafts/**"),
    "url": fixed("https://company.atlassian.net/wiki"),
    "email": fixed("kim@company.com"),
    "spaces": fixed("DOC, HR"),
    "trees": "A page's address or number",
    "page_labels": fixed("handbook, policy"),
    "cql": fixed('space = DOC and title ~ "guide"'),
    "skip_labels": fixed("draft"),
    "service_account": "Paste the file's contents",
    "oauth_token": "Paste the file's contents",
    "folders": fixed("https://drive.google.com/drive/folders/…"),
    "files": fixed("https://docs.google.com/document/d/…"),
    "drives": fixed("https://drive.google.com/drive/folders/…"),
    "types": fixed("gdoc, gsheet, pdf"),
}
SOURCE_FIELD_HELP = {
    "box": "If there are uploads with this name, the files are added to them.",
    "catalogue.path": (
        "The YAML file that describes the columns of the data next to it. docs/catalog.md"
        " explains how to write one."
    ),
    "trees": "Addresses or numbers, one per line.",
    "cql": (
        "A query in Confluence Query Language. The pages and blog posts that match it are imported."
    ),
    "skip_labels": (
        "Pages with any of these labels are skipped, and removed if they were imported before."
    ),
    "deletions": (
        "Once a day puts less load on a large site: in between, a refresh fetches only what"
        " has changed."
    ),
    "folders": "Addresses or IDs, one per line. Subfolders are included.",
    "files": "Addresses or IDs, one per line.",
    "drives": "Addresses or IDs, one per line.",
    "types": "Leave this empty to import every type that can be read.",
    "mirror_permissions": (
        "Only people who may read a document in this source find it. The account needs the right"
        " to see permissions; documents whose permissions it can't see are hidden."
    ),
    "oauth_token": (
        "“python cli.py google-login CLIENT_JSON --save TOKEN_FILE” signs you in and writes this"
        " file. Paste its contents."
    ),
}
SOURCE_CHOICES = {
    "login": {
        "cloud": "Email and API token (Cloud)",
        "token": "Personal access token (Data Center, Server)",
        "basic": "User name and password (Data Center, Server)",
        "service_account": "Service account",
        "oauth": "Personal account (OAuth)",
    },
    "scope": {
        "spaces": "Spaces",
        "trees": "Page trees",
        "labels": "Pages with labels",
        "cql": "Results of a query",
        "everything": "Everything the account can see",
        "folders": "Folders",
        "files": "Individual files",
        "drives": "Shared drives",
    },
    "deletions": {"always": "At every refresh", "daily": "Once a day"},
}
SIGN_IN_HELP = {
    "cloud": "Create the API token in your Atlassian account: {link}",
    "token": (
        "In Confluence, open your profile picture, then “Settings” and “Personal access tokens”:"
        " {link}"
    ),
    "service_account": (
        "Create a service account with a JSON key in the Google Cloud console, and share the"
        " folders with its email address: {link}"
    ),
    "oauth": (
        "Create an OAuth client of the type “Desktop app” in the Google Cloud console, download"
        " its JSON file, and sign in with it: {link}"
    ),
}
SIGN_IN_ADDRESSES = {
    "cloud": fixed("https://id.atlassian.com/manage-profile/security/api-tokens"),
    "token": fixed(
        "https://confluence.atlassian.com/enterprise/using-personal-access-tokens-1026032365.html"
    ),
    "service_account": fixed("https://console.cloud.google.com/iam-admin/serviceaccounts"),
    "oauth": fixed("https://console.cloud.google.com/auth/clients"),
}
CREDENTIAL_HELP = (
    "The value is stored encrypted and never shown again. You can also enter the name of an"
    " environment variable that contains it, such as $FOOTNOTE_SECRET_WIKI: Footnote then"
    " stores only the name."
)
EMPTY_KEEPS_NAME = "Leave empty to keep {name}"
STAYS_AS_IT_IS = "Leave empty to keep the current value"
SOURCE_NAME = "Name"
SOURCE_NAME_HINT = "By default, the name of the folder, space, or site"
SOURCE_COLLECTION = "Collection"
SOURCE_COLLECTION_HINT = "Choose one or type a new name"
SOURCE_COLLECTION_HELP = (
    "A conversation can be limited to collections. If you leave this empty, the source's name"
    " is its collection."
)
SOURCE_LABELS = "Labels, separated by commas"
SOURCE_SCHEDULE = "Refresh automatically"
SCHEDULES = {"never": "Never", "hourly": "Every hour", "daily": "Every day", "weekly": "Every week"}
TEST_SOURCE = "Test"
ADD_AND_DRY_RUN = "Add and start dry run"
ADD_AND_DRY_RUN_HELP = "Shows what an import would do, without changing the library."
ADD_AND_IMPORT = "Add and import"
UPLOAD_AND_IMPORT = "Upload and import"
TEST_PASSED = Plural("Test passed: 1 document found.", "Test passed: {n:,} documents found.")
TEST_PASSED_MORE = "Test passed: more than {n:,} documents found."
TEST_FIRST = "First documents: {titles}"
TEST_SKIPPED = Plural("1 file can't be imported.", "{n:,} files can't be imported.")
SKIPPED_FILE = "{name}: {reason}"
OPEN_EXISTING = "Open {name}"
SOURCE_ADDED = "{name} was added."
FILE_REJECTIONS = Plural("1 file was rejected:", "{n:,} files were rejected:")


IMPORT_PAGE = "Import"
IMPORT_TITLE = "Import"
IMPORT_INTRO = (
    "Documents come from sources: folders on this machine, Confluence sites, Google Drive,"
    " and boxes of uploaded files. An import adds new documents to the library, updates"
    " changed ones, and removes deleted ones."
)
NO_IMPORT_WORKER = (
    "No worker is running, so queued imports are waiting. “make run” starts a worker together"
    " with the pages. To start one manually:"
)
WORKER_COMMAND = fixed("python cli.py worker")

SOURCES_LISTED = "Sources"
NO_SOURCES = "No sources yet. Add one above: a folder, Confluence, Google Drive, or files."
CONVERSATION_BOXES = Plural(
    "Files of 1 conversation",
    "Files of {n:,} conversations, each searchable only in its conversation",
)
IMPORT_STATES = {
    "": "never imported",
    "queued": "queued",
    "running": "running",
    "paused": "paused",
    "completed": "done",
    "completed with errors": "done with errors",
    "needs confirmation": "needs confirmation",
    "interrupted": "interrupted",
    "cancelled": "canceled",
    "failed": "failed",
}
RUN_KINDS = {"import": "Import", "dry run": "Dry run", "removal": "Removal"}
SOURCE_HOLDS = "{documents}, {passages}"
SOURCE_FAILED = Plural("1 could not be read", "{n:,} could not be read")
SOURCE_IMPORTED = "last import {ago}"
SOURCE_NEXT = "next refresh {ago}"
SOURCE_DUE = "refresh due"
SOURCE_IN_COLLECTION = "collection {name}"

ALL_SOURCES = "All sources"
ASK_ABOUT_SOURCE = "Ask about these documents"
REFRESH_NOW = "Import now"
START_DRY_RUN = "Dry run"
START_DRY_RUN_HELP = "Shows what an import would do, without changing the library."
PAUSE_SOURCE = "Pause the source"
PAUSE_SOURCE_HELP = "Stops automatic refreshes and pauses the running import."
RESUME_SOURCE = "Resume the source"

RUN_QUEUED = "Waiting for its turn"
RUN_GAVE_WAY = "Waiting for its turn, because others wait, too. Progress is kept."
RUN_INTERRUPTED = "Interrupted. Progress is kept, and the next worker resumes at the next document."
RUN_WAITS = "Interrupted. Progress is kept, and the import resumes {ago}."
RUN_PAUSED = "Paused. The import resumes at the next document."
RUN_STAGES = {
    "listing": "Listing documents",
    "reading": "Reading",
    "splitting": "Splitting",
    "embedding": "Embedding",
    "writing": "Writing",
    "removing": "Removing",
    "indexing": "Indexing",
    "waiting": "Waiting for the source",
}
RUN_STARTING = "Starting"
RUN_LISTED = Plural("1 found so far", "{n:,} found so far")
RUN_DONE_OF = "{done} of {total} documents"
RUN_READ_OF = "{done} of {total} documents read"
RUN_PASSAGES = "{done} of {expected} passages"
RUN_PASSAGES_ABOUT = "{done} of about {expected} passages"
TIME_LEFT = "about {time} left"
ALMOST_DONE = "almost done"
RUN_STOPPING = {"pause": "Pausing…", "cancel": "Canceling…"}
PAUSE_RUN = "Pause"
RESUME_RUN = "Resume"
CANCEL_RUN = "Cancel"

DRY_RUN = "What an import would do"
DRY_RUN_AGE = "Dry run {ago}, took {time}"
DRY_RUN_PAGES = Plural("1 page", "{n:,} pages")
DRY_RUN_CHARACTERS = Plural("1 character", "{n:,} characters")
DRY_RUN_TOKENS = Plural("about 1 token", "about {n:,} tokens")
DRY_RUN_PRICE = "about {price} {currency}"
DRY_RUN_FREE = "free: no price is set for embedding"
DRY_RUN_NO_CHANGES = "Nothing has changed: there is nothing to import."
IMPORT_CHANGES = Plural("Import 1 change", "Import {n:,} changes")
REMOVALS_WITHHELD = Plural(
    "1 document seems to be missing: more than half of the source, or everything in one part"
    " of it. It is kept until you confirm the removal.",
    "{n:,} documents seem to be missing: more than half of the source, or everything in one"
    " part of it. They are kept until you confirm the removal.",
)
CHECK_FOLDER = "An unmounted folder looks empty: check the folder first."
CHECK_ACCOUNT = "An account that lost permissions sees fewer documents: check the account first."
CONFIRM_REMOVALS = Plural("Import and remove 1 document", "Import and remove {n:,} documents")
OUTCOMES = {
    "new": "new",
    "changed": "changed",
    "gone": "removed",
    "permissions": "permissions changed",
    "unchanged": "unchanged",
    "kept": "kept",
    "skipped": "skipped",
    "failed": "could not be read",
}

HISTORY = "Import history"
NO_HISTORY = "No imports yet."
HISTORY_STARTED = "Started"
HISTORY_KIND = "Type"
HISTORY_STATE = "State"
HISTORY_DURATION = "Duration"
HISTORY_CHOOSE = "Report for"
HISTORY_HINT = "Choose an import"
HISTORY_ENTRY = "{kind}, {started}: {state}"
REPORT_SHOW = "Show"
REPORT_OUTCOME = "{outcome} ({n})"
REPORT_DOCUMENT = "Document"
REPORT_OUTCOME_COLUMN = "Outcome"
REPORT_FIGURES = "Passages"
REPORT_REASON = "Reason"
REPORT_ROWS = "{first}–{last} of {total}"
REPORT_UNNAMED = Plural(
    "{n} document of these is not named: you may not read it, or its readers are not known yet.",
    "{n} documents of these are not named: you may not read them, or their readers are not known"
    " yet.",
)

EDIT_SOURCE = "Edit"
EDIT_FIXED = "The location can't be changed. To use another location, add another source."
EDIT_SAVE = "Save"
EDIT_SAVED = "Saved."
EDIT_SAVED_IMPORT = "Saved. An import that updates its documents is queued."
ADD_FILES = "Add files, or zip archives of files"
DELETE_SOURCE = "Delete"
DELETE_REMOVES = "This removes {documents} with {passages} from the library."
DELETE_UPLOADS = "The uploaded files are permanently deleted."
DELETE_KEEPS_FILES = "The files themselves stay where they are."
DELETE_KEEPS_PAGES = "The source itself is not changed. Its stored credentials are deleted."
DELETE_CITED = Plural(
    "1 conversation cites these documents: its answers keep their evidence.",
    "{n:,} conversations cite these documents: their answers keep their evidence.",
)
DELETE_NOW = "Delete this source"
DELETE_QUEUED = "{name} is being deleted."
