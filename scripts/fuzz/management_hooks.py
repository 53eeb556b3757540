"""Adapts schemathesis to the description of the management API. All its checks stay on; three of its failures are correct responses."""

import atexit
import datetime
import itertools
import json
import os
from pathlib import Path

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData, UnsupportedMethodResponse

from responses import is_error, is_strict_rejection

_numbers = itertools.count()
_known = {"api_key": [], "webhook_endpoint": [], "webhook_delivery": [], "sandbox_order": []}
"""The ids of what the service created for the account, by type."""
_cursors = {}
"""`next_cursor` → the path with its ids, and the query, of its list."""
_accepted = 0

_ACCOUNT = "acc_1"
_FINAL = ("keys_revoke", "webhook_endpoints_disable", "webhook_endpoints_delete")
_COLLECTIONS = {
    "keys": "api_key",
    "webhook-endpoints": "webhook_endpoint",
    "deliveries": "webhook_delivery",
    "sandbox-orders": "sandbox_order",
}
_MISSING = "missing_0"
_URL = "https://loja.exemplo.com.br/pedidos"
_HOUR = datetime.timedelta(hours=1)
_UNDESCRIBABLE = ("url", "events", "description", "name", "from", "since", "subject")
"""Fields with a rule that no schema expresses, such as a public address or a period of days."""


@schemathesis.serializer("application/x-ndjson")
def ndjson(context, value):
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Uses what exists in three of four valid cases: drawn ids, cursors and addresses name nothing."""
    number = next(_numbers)
    _protect(case)
    if not case.meta.generation.mode.is_positive or number % 4 == 0:
        return
    if case.path_parameters:
        case.path_parameters = {**case.path_parameters, **_known_path(case, number)}
    if isinstance(case.body, dict):
        known = {"url": _URL, "since": (datetime.datetime.now(datetime.UTC) - _HOUR).isoformat()}
        case.body = {name: known.get(name, value) for name, value in case.body.items()}
    if case.operation.query.get("cursor") is not None:
        case.query = _continued(case, number)


@schemathesis.hook
def after_call(context, case, response):
    """Records ids and cursors, and counts accepted cursors."""
    global _accepted
    if response.status_code not in (200, 201):
        return
    body = json.loads(response.content)
    ids = _known.get(body.get("object"))
    if ids is not None and case.path_parameters["account"] == _ACCOUNT and body["id"] not in ids:
        ids.append(body["id"])
    _accepted += _cursor(case) in _cursors
    if body.get("next_cursor") is not None:
        query = {name: value for name, value in (case.query or {}).items() if name not in ("cursor", "limit")}
        _cursors[body["next_cursor"]] = (_path(case), query)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Returns false for a failure that is a correct response by our guide."""
    if isinstance(failure, UnsupportedMethodResponse):
        # The check expects 405. This API responds 404 for an unknown method as for an unknown path.
        return not is_error(response, 404, "resource_missing")
    if isinstance(failure, AcceptedNegativeData):
        # Each line has its own result, and a bad one does not stop the others.
        return not _has_refused_line(response)
    if isinstance(failure, RejectedPositiveData):
        if is_strict_rejection(case, response) or response.status_code == 409:
            return False
        if _cursor(case) is not None and _cursor(case) not in _cursors:
            # No schema can distinguish a signed cursor from other text.
            return not is_error(response, 400, "invalid_request", "cursor")
        return not any(is_error(response, 400, "invalid_request", name) for name in _UNDESCRIBABLE)
    return True


@atexit.register
def tell_accepted():
    Path(os.environ["FUZZ_CURSORS"]).write_text(str(_accepted))


def _known_ids(case):
    parts = case.operation.path.split("/")
    return _known.get(_COLLECTIONS.get(parts[4] if len(parts) > 4 else None), [])


def _is_final(case):
    return case.operation.definition.raw["operationId"] in _FINAL


def _protect(case):
    """Ends none of the first two objects: schemathesis itself repeats ids of earlier responses."""
    parameters = case.path_parameters or {}
    if _is_final(case) and parameters.get("id") in _known_ids(case)[:2]:
        case.path_parameters = {**parameters, "id": _MISSING}


def _known_path(case, number):
    ids = _known_ids(case)
    # The first ones stay as they are, so that every operation finds something to change. Only they
    # get deliveries, which can then always be sent again.
    is_test = case.operation.definition.raw["operationId"] == "webhook_endpoints_test"
    usable = ids[2:] if _is_final(case) else ids[:2] if is_test else ids
    identifier = {"id": usable[number % len(usable)]} if "id" in case.path_parameters and usable else {}
    return {"account": _ACCOUNT, **identifier}


def _continued(case, number):
    """A short page, and the next one of a list that has more."""
    own = [cursor for cursor, (path, _) in _cursors.items() if path == _path(case)]
    if own and number % 2:
        cursor = own[number % len(own)]
        return {**_cursors[cursor][1], "cursor": cursor}
    query = {name: value for name, value in (case.query or {}).items() if name != "cursor"}
    return {**query, "limit": 1}


def _path(case):
    return case.operation.path.format(**(case.path_parameters or {}))


def _cursor(case):
    cursor = (case.query or {}).get("cursor")
    return cursor if isinstance(cursor, str) else None


def _has_refused_line(response):
    body = json.loads(response.content)
    return body.get("object") == "source_order_results" and body["refused"] > 0
