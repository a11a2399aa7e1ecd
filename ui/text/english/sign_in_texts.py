"""The texts about signing in, and about roles."""

SIGN_IN = "Sign in"
SIGN_OUT = "Sign out"
EXPORT_MY_DATA = "Export my data"
SIGN_IN_FIRST = "Sign in to become an administrator."
SIGN_IN_TO_READ = "Sign in to read the shared conversation."
NOW_ADMINISTRATOR = "You are now an administrator."
FOR_EDITORS = "Only editors and administrators can change documents."
EMPTY_FOR_READERS = "Ask an editor or an administrator to add documents."
ROLE_NAMES = {"reader": "Reader", "editor": "Editor", "admin": "Administrator"}
