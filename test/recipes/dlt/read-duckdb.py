"""Prints the orders of a DuckDB file, their items inside, as JSON: what is null is left out, dates are in UTC."""
import datetime
import json
import sys

import duckdb

JSON_COLUMNS = ("tracking", "metadata")
OWN_COLUMNS = ("ordem_de_leitura",)

database = duckdb.connect(sys.argv[1], read_only=True)


def rows(query):
    result = database.execute(query)
    names = [column[0] for column in result.description]
    return [dict(zip(names, values)) for values in result.fetchall()]


def order_of(row):
    return {
        name: value_of(name, value)
        for name, value in row.items()
        if value is not None and not name.startswith("_dlt_") and name not in OWN_COLUMNS
    }


def value_of(name, value):
    if name in JSON_COLUMNS:
        return json.loads(value)
    if isinstance(value, datetime.datetime):
        instant = value.astimezone(datetime.timezone.utc)
        return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value


items = {}
for item in rows("SELECT * FROM vendas.pedidos__items ORDER BY _dlt_list_idx"):
    items.setdefault(item["_dlt_parent_id"], []).append(order_of(item))
orders = rows("SELECT * FROM vendas.pedidos")
print(json.dumps([{**order_of(order), "items": items.get(order["_dlt_id"], [])} for order in orders]))
