"""Principals, their roles, and the API keys of programs that act for them."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    """What a user may do, from least to most; each role includes the ones before it.

    Readers ask questions and own their conversations. Editors also manage sources, imports, and
    documents. Administrators also manage users, readers of sources, settings, and the library.
    """

    READER = "reader"
    EDITOR = "editor"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Whether this role may do everything that the other one may do."""
        roles = list(Role)
        return roles.index(self) >= roles.index(other)


def user_reader(user_id: str) -> str:
    """The user as a reader of sources and documents."""
    return f"user:{user_id}"


def group_reader(group: str) -> str:
    """The members of a group as readers of sources and documents."""
    return f"group:{group}"


def email_reader(address: str) -> str:
    """The person with this email address as a reader of sources and documents."""
    return f"email:{address.strip().lower()}"


def domain_reader(domain: str) -> str:
    """Everyone with an email address of this domain as a reader of sources and documents."""
    return f"domain:{domain.strip().lower()}"


@dataclass(frozen=True, slots=True)
class Principal:
    """The user or API key on whose behalf a call is made.

    The `is_operator` is the user of the command line and of pages without sign-in. They can read
    the data folder, so no list of readers restricts them. `email` is an address that sign-in has
    verified, or empty. `api_key` is the id of the key that makes the call, if any.
    """

    user_id: str
    groups: frozenset[str] = frozenset()
    role: Role = Role.READER
    is_operator: bool = False
    email: str = ""
    api_key: str = field(default="", compare=False)

    @property
    def readers(self) -> frozenset[str]:
        """The readers that stand for this principal.

        They are the user, each of the groups, the email address, and its domain.
        """
        own = [user_reader(self.user_id), *map(group_reader, self.groups)]
        if self.email:
            domain = self.email.rpartition("@")[2]
            own += [email_reader(self.email), domain_reader(domain)]
        return frozenset(own)


LOCAL_USER = Principal("local", role=Role.ADMIN, is_operator=True)


@dataclass(frozen=True, slots=True)
class Account:
    """A person who has signed in at an OpenID provider.

    `id` is a digest of the issuer and the subject, the provider's permanent name for the person.
    Two accounts may have the same e-mail address. The name, the address, and the groups are those
    of the latest sign-in, at `signed_in_at`; `seen_at` is the time of the last use, to the hour.
    An account with `disabled_at` can't be used. `email_verified` is whether the provider has
    verified the address.
    """

    id: str
    issuer: str
    subject: str
    name: str
    email: str
    role: Role
    groups: frozenset[str]
    created_at: datetime
    signed_in_at: datetime
    seen_at: datetime
    disabled_at: datetime | None = None
    email_verified: bool = False

    @property
    def principal(self) -> Principal:
        """The principal for calls of this person."""
        return Principal(self.id, self.groups, self.role)


class ApiScope(StrEnum):
    """The permissions of a key.

    `read`: search and read. `ask`: ask questions, and store conversations and judgments. `manage`:
    change sources, imports, and documents. `metrics`: read the figures of the whole installation.
    No scope includes another.
    """

    READ = "read"
    ASK = "ask"
    MANAGE = "manage"
    METRICS = "metrics"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key with which a program calls the API for a user; its secret is not stored.

    `used_at` is the time of its last use, to the minute. A key with `revoked_at` is invalid, and
    so is one from `expires_at` on. The user reads what the `groups` may read.
    """

    id: str
    name: str
    user_id: str
    scopes: frozenset[ApiScope]
    created_at: datetime
    used_at: datetime | None = None
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    groups: frozenset[str] = frozenset()

    @property
    def principal(self) -> Principal:
        """The principal for calls with this key, which its scopes limit further."""
        return Principal(self.user_id, self.groups, Role.EDITOR, api_key=self.id)

    def is_valid(self, now: datetime) -> bool:
        """Whether calls may be made with this key at that time."""
        return self.revoked_at is None and not self.has_expired(now)

    def has_expired(self, now: datetime) -> bool:
        """Whether that time is after the last moment of its validity."""
        return self.expires_at is not None and self.expires_at <= now
