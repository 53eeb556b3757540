# Lista os pedidos pagos até o fim. Só usa a biblioteca padrão.
import json
import os
import time
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = os.environ["ORDERS_API_URL"]
AUTHORIZATION = f"Bearer {os.environ['ORDERS_API_KEY']}"


def get(path, query):
    for attempt in range(6):
        # Um pedido novo a cada vez: atrás de um proxy, o repetido sairia sem TLS.
        request = Request(f"{URL}{path}?{urlencode(query)}")
        # Um redirecionamento não leva a chave.
        request.add_unredirected_header("Authorization", AUTHORIZATION)
        try:
            with urlopen(request, timeout=30) as response:
                return json.load(response)
        except HTTPError as error:
            # Só vale repetir 429 e 5xx. Espera o maior entre Retry-After e um tempo que dobra.
            if (error.code != 429 and error.code < 500) or attempt == 5:
                raise SystemExit(f"{error.code} {error.read().decode()}")
            time.sleep(max(int(error.headers["Retry-After"] or 0), 2**attempt))


query = {"status": "PAID", "limit": 100}
while True:
    page = get("/v1/orders", query)
    for order in page["data"]:
        print(order["id"], order["status"], order["amount_total"] / 100)
    if not page["has_more"]:
        break
    query["cursor"] = page["next_cursor"]
