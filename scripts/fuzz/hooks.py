"""Adapts schemathesis to our description. All its checks stay on; five of its failures are correct responses."""

import atexit
import itertools
import json
import os
from pathlib import Path

import schemathesis
from schemathesis.generation.meta import TestPhase
from schemathesis.openapi.checks import RejectedPositiveData, UnsupportedMethodResponse

from responses import is_error, is_strict_rejection

_numbers = itertools.count()
_issued = {}
"""`next_cursor` → the key and the query of its listing."""
_accepted = 0

_UNDESCRIBABLE = ("product_id", "customer_email", "customer_document")
"""Parameters with a rule that no schema expresses, such as check digits or a whole character."""


@schemathesis.hook
def before_call(context, case, kwargs):
    """Sends each request from its own address: thirty wrong keys would block an address with 429."""
    number = next(_numbers)
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    if case.meta.phase.name == TestPhase.STATEFUL and case.meta.generation.mode.is_positive and _cursor(case):
        case.query = _continued(case, number)


@schemathesis.hook
def after_call(context, case, response):
    """Records the listing of each cursor, and counts accepted cursors."""
    global _accepted
    if response.status_code != 200 or not case.operation.path.endswith("/orders"):
        return
    _accepted += _is_ours(case, response)
    cursor = json.loads(response.content)["next_cursor"]
    if cursor is not None:
        _issued[cursor] = _listing(case, response)


@schemathesis.check
def own_cursors_accepted(ctx, response, case):
    """The service accepts its own cursor for the same listing."""
    assert not (_is_ours(case, response) and _is_rejected_cursor(response)), "rejects its own cursor"


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Returns false for a failure that is a correct response by our guide."""
    if isinstance(failure, UnsupportedMethodResponse):
        # The check expects 405. This API responds 404 for an unknown method as for an unknown path.
        return not is_error(response, 404, "resource_missing")
    if isinstance(failure, RejectedPositiveData):
        if response.status_code == 304:
            # `If-None-Match` with `*` or our own tag: the client already has the response.
            return not _is_not_modified(case, response)
        if is_strict_rejection(case, response):
            # Unknown parameters are valid, but `Prefer: handling=strict` requests their rejection.
            return False
        if any(is_error(response, 400, "invalid_request", name) for name in _UNDESCRIBABLE):
            return False
        # No schema can distinguish a sealed cursor from other text.
        is_foreign = _cursor(case) is not None and not _is_ours(case, response)
        return not (is_foreign and _is_rejected_cursor(response))
    return True


@atexit.register
def tell_accepted():
    Path(os.environ["FUZZ_CURSORS"]).write_text(str(_accepted))


def _continued(case, number):
    """A link passes on part of a listing, and schemathesis draws the rest, so hardly any cursor would match."""
    if not _issued:
        return {name: value for name, value in case.query.items() if name != "cursor"}
    cursor = _cursor(case)
    if cursor not in _issued:
        cursor = list(_issued)[number % len(_issued)]
    _, listing = _issued[cursor]
    limit = {name: value for name, value in case.query.items() if name == "limit"}
    return {**listing, **limit, "cursor": cursor}


def _is_ours(case, response):
    return _issued.get(_cursor(case)) == _listing(case, response)


def _listing(case, response):
    query = {name: value for name, value in (case.query or {}).items() if name not in ("cursor", "limit")}
    return response.request.headers.get("Authorization"), query


def _cursor(case):
    cursor = (case.query or {}).get("cursor")
    return cursor if isinstance(cursor, str) else None


def _is_rejected_cursor(response):
    return is_error(response, 400, "invalid_request", "cursor")


def _is_not_modified(case, response):
    names = {name.lower() for name in case.headers or {}}
    return "if-none-match" in names and "ETag" in response.headers and not response.content
