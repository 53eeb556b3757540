# Busca um pedido: python3 pedido.py ord_…
import json
import os
import sys
import time
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

url = f"{os.environ['ORDERS_API_URL']}/v1/orders/{quote(sys.argv[1], safe='')}"
for attempt in range(6):
    # Um pedido novo a cada vez: atrás de um proxy, o repetido sairia sem TLS.
    request = Request(url)
    # Um redirecionamento não leva a chave.
    request.add_unredirected_header("Authorization", f"Bearer {os.environ['ORDERS_API_KEY']}")
    try:
        with urlopen(request, timeout=30) as response:
            order = json.load(response)
        break
    except HTTPError as error:
        # Só vale repetir 429 e 5xx. Espera o maior entre Retry-After e um tempo que dobra.
        if (error.code != 429 and error.code < 500) or attempt == 5:
            raise SystemExit(f"{error.code} {error.read().decode()}")
        time.sleep(max(int(error.headers["Retry-After"] or 0), 2**attempt))

print(json.dumps(order, ensure_ascii=False, indent=2))
