"""What schemathesis cannot read in our description. Every check stays on; two of its failures are right answers."""

import itertools
import json

import schemathesis
from schemathesis.openapi.checks import RejectedPositiveData, UnsupportedMethodResponse

_numbers = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Every request comes from an address of its own: thirty bad keys from one would block it, and the rest be 429."""
    number = next(_numbers)
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether a failure is one; what the contract demands is none, to the letter of its answer."""
    if isinstance(failure, UnsupportedMethodResponse):
        # The check wants 405. A method that a route does not have is a missing route here, as one of another path is.
        return not _is_error(response, 404, "resource_missing")
    if isinstance(failure, RejectedPositiveData):
        # No schema tells a sealed cursor from another text. Only one that we made, for this very listing, is accepted.
        sent_cursor = "cursor" in (case.query or {})
        return not (sent_cursor and _is_error(response, 400, "invalid_request", "cursor"))
    return True


def _is_error(response, status, code, param=None):
    if response.status_code != status:
        return False
    error = json.loads(response.content)["error"]
    return error["code"] == code and error.get("param") == param
