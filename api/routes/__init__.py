"""The operations, a module for each kind of thing."""

from fastapi import APIRouter

from api.routes import (
    ask,
    catalogue,
    conversations,
    documents,
    evaluation,
    feedback,
    health,
    imports,
    labels,
    places,
    search,
    sources,
    unread,
    uploads,
)

ROUTERS: tuple[APIRouter, ...] = (
    conversations.router,
    ask.router,
    catalogue.router,
    places.router,
    health.router,
    search.router,
    labels.router,
    feedback.router,
    evaluation.router,
    sources.router,
    imports.router,
    documents.router,
    unread.router,
    uploads.router,
)
"""The routers below /api/v1."""
