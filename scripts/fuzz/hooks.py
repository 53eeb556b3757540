"""What schemathesis cannot read in our description. All its checks stay on; four of its failures are right answers."""

import atexit
import itertools
import json
import os
from pathlib import Path

import schemathesis
from schemathesis.generation.meta import TestPhase
from schemathesis.openapi.checks import RejectedPositiveData, UnsupportedMethodResponse

_numbers = itertools.count()
_issued = {}
"""Of each `next_cursor`: the key and the query of the listing that it continues."""
_accepted = 0


@schemathesis.hook
def before_call(context, case, kwargs):
    """Every request comes from an address of its own: thirty bad keys from one would block it, and the rest be 429."""
    number = next(_numbers)
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    if case.meta.phase.name == TestPhase.STATEFUL and case.meta.generation.mode.is_positive and _cursor(case):
        case.query = _continued(case, number)


@schemathesis.hook
def after_call(context, case, response):
    """Remembers which listing a cursor is for, and counts those that were taken."""
    global _accepted
    if response.status_code != 200 or not case.operation.path.endswith("/orders"):
        return
    _accepted += _is_ours(case, response)
    cursor = json.loads(response.content)["next_cursor"]
    if cursor is not None:
        _issued[cursor] = _listing(case, response)


@schemathesis.check
def own_cursors_accepted(ctx, response, case):
    """A cursor that we made is accepted for the very listing that it was made for."""
    assert not (_is_ours(case, response) and _is_refused_cursor(response)), "refuses a cursor of its own"


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether a failure is one; what the contract demands is none, to the letter of its answer."""
    if isinstance(failure, UnsupportedMethodResponse):
        # The check wants 405. A method that a route does not have is a missing route here, as one of another path is.
        return not _is_error(response, 404, "resource_missing")
    if isinstance(failure, RejectedPositiveData):
        if response.status_code == 304:
            # `If-None-Match: *`, or a tag of ours: nothing was rejected, the caller has it already.
            return not _is_not_modified(case, response)
        if _is_strict_refusal(case, response):
            # More parameters than there are is valid, but who prefers strict handling asks for a refusal.
            return False
        # No schema tells a sealed cursor from another text.
        is_foreign = _cursor(case) is not None and not _is_ours(case, response)
        return not (is_foreign and _is_refused_cursor(response))
    return True


@atexit.register
def tell_accepted():
    Path(os.environ["FUZZ_CURSORS"]).write_text(str(_accepted))


def _continued(case, number):
    """A link hands on part of a listing, and the rest is drawn, or even the cursor: hardly one would be accepted."""
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


def _is_refused_cursor(response):
    return _is_error(response, 400, "invalid_request", "cursor")


def _is_not_modified(case, response):
    names = {name.lower() for name in case.headers or {}}
    return "if-none-match" in names and "ETag" in response.headers and not response.content


def _is_strict_refusal(case, response):
    headers = {name.lower(): value for name, value in (case.headers or {}).items()}
    if "handling=strict" not in str(headers.get("prefer", "")).lower() or response.status_code != 400:
        return False
    error = json.loads(response.content)["error"]
    described = {parameter.name for parameter in case.operation.query}
    sent = {name[:64] for name in case.query or {}}
    return error["code"] == "invalid_request" and error.get("param") in sent - described


def _is_error(response, status, code, param=None):
    if response.status_code != status:
        return False
    error = json.loads(response.content)["error"]
    return error["code"] == code and error.get("param") == param
