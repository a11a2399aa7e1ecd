"""Footnote's domain values: documents, imports, searches, turns, citations, and places.

Every layer imports them from this package (`from domain import Turn`). Its modules of values
contain only frozen dataclasses and enumerations; the subpackages `language` and `web` contain
shared rules. The package imports no other layer.
"""

from domain.audit import *
from domain.documents import *
from domain.import_values import *
from domain.people import *
from domain.places import *
from domain.search_values import *
from domain.turns import *
