"""The texts of the administration page."""

from ui.text.english.text_kinds import Plural

ADMINISTRATION_PAGE = "Administration"
ADMINISTRATION_INTRO = "Who may use Footnote, and who may read what. Changes take effect at once."
ADMINISTRATION_VIEW = "View"
ADMINISTRATION_VIEWS = {
    "people": "People",
    "groups": "Groups",
    "sources": "Sources and collections",
    "why": "Why can this person read this document?",
    "keys": "API keys",
    "audit": "Audit log",
}
CHANGE_CANCEL = "Cancel"

FIND_PEOPLE = "Find people"
FIND_PEOPLE_PLACEHOLDER = "Words of the name or e-mail address"
NO_PEOPLE = "Nobody has signed in yet."
NO_PEOPLE_MATCH = "Nobody matches."
TABLE_OF_PEOPLE = "Table of the people who have signed in"
CHOOSE_PERSON_ROW = "Select a person in the first column to change the role or the account."
PERSON_NAME = "Name"
PERSON_EMAIL = "E-mail"
PERSON_ROLE = "Role"
PERSON_GROUPS = "Groups"
PERSON_SEEN = "Last use"
PERSON_STATE = "State"
PERSON_ENABLED = "Enabled"
PERSON_DISABLED = "Disabled"
PERSON_FIGURES = "Signed in {signed_in}, last use {seen}"
ROLE_HELP = (
    "Readers ask and keep their conversations. Editors also change sources and documents."
    " Administrators also change settings, roles, and readers. No role reads more than others."
)
ROLE_SAVE = "Save role"
ROLE_SAVED = "{name} is now: {role}."
ACCOUNT_DISABLE = "Disable the account"
ACCOUNT_DISABLE_ASK = "Disable the account of {name}?"
ACCOUNT_DISABLE_MEANS = (
    "Sessions, sign-ins, and API keys of this person are refused from now on. Conversations are"
    " kept, and you can enable the account again."
)
ACCOUNT_DISABLE_NOW = "Disable"
ACCOUNT_DISABLED = "The account of {name} is disabled."
ACCOUNT_ENABLE = "Enable the account"
ACCOUNT_ENABLED = "The account of {name} is enabled."

GROUPS_NOTE = (
    "The groups of people at their latest sign-in, of API keys, and those that are named as"
    " readers. What has no list of readers is readable by everyone."
)
NO_GROUPS = "No groups are known yet: the sign-in sends none, and no list of readers names one."
TABLE_OF_GROUPS = "Table of groups"
GROUP_NAME = "Group"
GROUP_MEMBERS = "People"
GROUP_SOURCES = "Reader of sources"
GROUP_COLLECTIONS = "Reader of collections"
CHOOSE_GROUP_ROW = "Select a group in the first column to see its members and documents."
GROUP_MEMBERS_NAMED = Plural("1 person: {names}", "{n} people: {names}")
GROUP_NO_MEMBERS = "Nobody had this group at the latest sign-in."
GROUP_READS_SOURCES = "Named as a reader of the sources: {names}"
GROUP_READS_COLLECTIONS = "Named as a reader of the collections: {names}"
GROUP_READS_DOCUMENTS = Plural(
    "Named in the permissions of 1 document of the source {source}",
    "Named in the permissions of {n} documents of the source {source}",
)
GROUP_NOT_NAMED = "No list of readers names this group."

SHARED_NOTE = "Select a source or a collection in the first column to see who can read it."
NO_SHARED = "There are no sources yet."
TABLE_OF_SHARED = "Table of sources and collections with their readers"
SHARED_NAME = "Name"
SHARED_KIND = "Kind"
SHARED_KINDS = {"source": "Source", "collection": "Collection"}
SHARED_READERS = "Readers"
SHARED_DOCUMENTS = "Documents"
EVERYONE = "Everyone"
NOBODY = "Nobody"
AND_MORE = Plural("{names}, and 1 more", "{names}, and {n} more")
READER_GROUP = "{name} (group)"
READER_DOMAIN = "everyone at {name}"
READER_USER = "user {name}"

WHO_CAN_READ = "Who can read “{name}”?"
WHO_SOURCE_EVERYONE = "The source has no list of readers, so it excludes nobody."
WHO_SOURCE_READERS = "Only these may read the source: {readers}."
WHO_SOURCE_NOBODY = "Nobody may read the source."
WHO_COLLECTION_EVERYONE = "The collection {name} has no list of readers, so it excludes nobody."
WHO_COLLECTION_READERS = "Only these may read the collection {name}: {readers}."
WHO_COLLECTION_NOBODY = "Nobody may read the collection {name}."
WHO_IN_BOTH = "A person must be in both lists."
WHO_PEOPLE = Plural(
    "Of the people who have signed in, 1 of {total} can read the source: {names}.",
    "Of the people who have signed in, {n} of {total} can read the source: {names}.",
)
WHO_NO_PEOPLE = "None of the people who have signed in can read the source."
WHO_DOCUMENTS_ALIKE = Plural(
    "Its only document has no permissions of its own.",
    "None of its {n} documents has permissions of its own.",
)
WHO_NO_DOCUMENTS = "It has no documents yet."
WHO_UNRESTRICTED = Plural(
    "1 of {total} documents has no permissions of its own.",
    "{n} of {total} documents have no permissions of their own.",
)
WHO_PERMISSIONS = Plural("1 document also needs: {lists}", "{n} documents also need: {lists}")
WHO_LISTS_AND = " – and: "
WHO_OTHER = Plural(
    "1 more document has other permissions.", "{n} more documents have other permissions."
)
WHO_HIDDEN = Plural(
    "1 document is hidden from everyone, because its permissions could not be read or admit"
    " nobody.",
    "{n} documents are hidden from everyone, because their permissions could not be read or admit"
    " nobody.",
)
WHO_MIRRORS = "The source mirrors permissions: each import updates those of its documents."
WHO_COLLECTION_SOURCES = Plural("It has 1 source: {names}.", "It has {n} sources: {names}.")

READERS_CHANGE = "Change who may read it"
READERS_OF = "Readers"
READERS_CHOICES = {
    "everyone": "Everyone",
    "some": "Only these people and groups",
    "nobody": "Nobody (hidden)",
}
READERS_SOME = "People and groups"
READERS_PLACEHOLDER = "Choose, or enter an e-mail address or a group"
READERS_HELP = (
    "Enter an e-mail address, group:NAME, domain:NAME for all addresses of a domain, or user:ID. An"
    " address counts only if the sign-in has verified it."
)
READERS_FIRST_PEOPLE = (
    "The list offers the first {shown} of {total} people by name. For others, enter their e-mail"
    " address."
)
READERS_SAVE = "Save readers"
READERS_MISSING = "Choose at least one person or group, or choose “Nobody (hidden)”."
READERS_SAVED = "Readers of {name}: {readers}"

WHY_PERSON = "Person"
WHY_FIND_PERSON = "Find a person"
WHY_DOCUMENT = "Document"
WHY_FIND_DOCUMENT = "Find a document"
WHY_FIND_DOCUMENT_PLACEHOLDER = "Words of the title, or the address or id of a document"
WHY_FIND_DOCUMENT_HELP = (
    "Titles are searched in what you may read yourself. To explain another document, enter its"
    " address, which contains its id."
)
WHY_BY_ID = "The document with the id {id}"
WHY_NO_DOCUMENT = "No document that you may read has these words in its title."
WHY_START = "Choose a person and a document."
WHY_READABLE = "{name} can read “{title}”."
WHY_HIDDEN = "{name} can't read “{title}”."
WHY_READABLE_VERIFIED = "{name} can read “{title}” if the sign-in has verified the address {email}."
WHY_ALLOWS = "Allows"
WHY_DENIES = "Denies"
WHY_ACCOUNT_ENABLED = (
    "Account: it is enabled. The role {role} does not matter for reading; no role reads more than"
    " others."
)
WHY_ACCOUNT_DISABLED = "Account: it is disabled, so the person can't sign in."
WHY_CONVERSATION = {
    True: "Conversation: it is a file of the person's own conversation.",
    False: "Conversation: it is a file of another person's conversation.",
}
WHY_OPEN = {
    "source": "Source {source}: it has no list of readers.",
    "collection": "Collection {collection}: it has no list of readers.",
    "document": "Document: it has no permissions of its own.",
}
WHY_ADMITS = {
    "source": "Source {source}: its readers include {through}.",
    "collection": "Collection {collection}: its readers include {through}.",
    "document": "Document: its permissions include {through}.",
}
WHY_EXCLUDES = {
    "source": "Source {source}: only {readers} may read it.",
    "collection": "Collection {collection}: only {readers} may read it.",
    "document": "Document: its permissions admit only {readers}.",
}
WHY_EXCLUDES_ALL = {
    "source": "Source {source}: nobody may read it.",
    "collection": "Collection {collection}: nobody may read it.",
    "document": (
        "Document: it is hidden, because its permissions could not be read or admit nobody."
    ),
}
WHY_GROUPS = "Groups at the latest sign-in, {when}: {groups}"
WHY_NO_GROUPS = "No groups at the latest sign-in, {when}"

API_KEYS = "API keys"
API_KEYS_NOTE = (
    "Programs use keys to call the API. A key reads what its person and groups may read."
)
API_KEYS_NOTE_ALONE = "Programs use keys to call the API."
KEY_CREATE = "Create a key"
KEY_NAME = "Name"
KEY_NAME_PLACEHOLDER = "What the key is for, such as the program's name"
KEY_SCOPES = "Scopes"
KEY_SCOPE_NAMES = {
    "read": "read: search and read documents",
    "ask": "ask: ask questions, and store conversations",
    "manage": "manage: change sources, imports, and documents",
    "metrics": "metrics: read the figures of the whole installation",
}
KEY_GROUPS = "Groups"
KEY_GROUPS_HELP = "The key reads what these groups may read."
KEY_GROUPS_PLACEHOLDER = "Choose or enter groups"
KEY_EXPIRES = "Last day of validity"
KEY_EXPIRES_HELP = "Remove the date for a key that does not expire."
KEY_CREATE_NOW = "Create"
KEY_CREATED = "The key “{name}” was created"
SHOWN_ONCE = "Copy the secret now: it is not stored, and is never shown again."
SHOWN_ONCE_DONE = "Done"
NO_KEYS = "There are no keys."
TABLE_OF_KEYS = "Table of API keys"
CHOOSE_KEY_ROW = "Select a key in the first column to revoke it."
KEY_PERSON = "Person"
KEY_CREATED_AT = "Created"
KEY_USED = "Last use"
KEY_UNTIL = "Expires"
KEY_STATE = "State"
KEY_STATES = {"valid": "Valid", "expired": "Expired", "revoked": "Revoked"}
KEY_REVOKE = "Revoke"
KEY_REVOKE_ASK = "Revoke the key “{name}”?"
KEY_REVOKE_MEANS = "Calls with it are refused from now on. This can't be undone."
KEY_REVOKE_NOW = "Revoke the key"
KEY_REVOKED = "The key “{name}” is revoked."

AUDIT_NOTE = "Who changed what, and when, the newest first."
NO_EVENTS = "No event matches."
TABLE_OF_EVENTS = "Table of the audit log"
AUDIT_ACTION = "Action"
AUDIT_ANY_ACTION = "All actions"
AUDIT_ANY_PERSON = "Everyone"
AUDIT_TIME = "Time"
AUDIT_WHO = "Who"
AUDIT_OBJECT = "Object"
AUDIT_DETAIL = "Details"
AUDIT_OLDER = "Older events"
AUDIT_NEWEST = "Newest events"
AUDIT_ACTIONS = {
    "source.added": "Source added",
    "source.edited": "Source edited",
    "source.deleted": "Source deleted",
    "import.started": "Import started",
    "import.ended": "Import ended",
    "document.removed": "Documents removed",
    "document.restored": "Documents included again",
    "upload.added": "Files uploaded",
    "upload.deleted": "Uploaded files deleted",
    "settings.changed": "Settings changed",
    "access.changed": "Readers changed",
    "account.role_changed": "Role changed",
    "account.disabled": "Account disabled",
    "account.enabled": "Account enabled",
    "account.deleted": "Account deleted",
    "account.exported": "Data of an account exported",
    "api_key.created": "API key created",
    "api_key.revoked": "API key revoked",
    "conversation.deleted": "Conversation deleted",
    "conversation.shared": "Conversation shared",
    "conversation.unshared": "Conversation no longer shared",
    "sign_in.ok": "Signed in",
    "sign_in.refused": "Sign-in refused",
    "backup.created": "Backup created",
}
AUDIT_OPERATOR = "Operator"
AUDIT_DETAILS = {
    "kind": "Kind",
    "conversation_id": "Conversation",
    "documents": "Documents",
    "keys": "Names of documents",
    "user_id": "Person",
    "scopes": "Scopes",
    "role": "Role",
    "reason": "Reason",
    "readers": "Readers",
    "is_scheduled": "Type of backup",
    "state": "State",
    "settings": "Settings",
    "conversations": "Conversations",
    "ratings": "Ratings",
    "labels": "Labels",
    "preferences": "People with preferences",
    "api_keys": "API keys",
    "import_turns": "Import turns",
    "recent_questions": "Recent questions",
    "uploads": "Recent uploads",
    "uploaded_files": "Uploaded files",
}
AUDIT_REASONS = {"disabled": "the account is disabled"}
AUDIT_SCHEDULED = {True: "scheduled", False: "on request"}
AUDIT_DEFAULT = "default"
