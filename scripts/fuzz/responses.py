"""What the hooks of both APIs read in a response."""

import json


def is_error(response, status, code, param=None):
    if response.status_code != status:
        return False
    error = json.loads(response.content)["error"]
    return error["code"] == code and error.get("param") == param


def is_strict_rejection(case, response):
    """Unknown parameters are valid, but `Prefer: handling=strict` requests their rejection."""
    headers = {name.lower(): value for name, value in (case.headers or {}).items()}
    if "handling=strict" not in str(headers.get("prefer", "")).lower() or response.status_code != 400:
        return False
    error = json.loads(response.content)["error"]
    described = {parameter.name for parameter in case.operation.query}
    sent = {name[:64] for name in case.query or {}}
    return error["code"] == "invalid_request" and error.get("param") in sent - described
