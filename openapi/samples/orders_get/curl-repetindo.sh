#!/usr/bin/env bash
# Busca um pedido: bash pedido.sh ord_…
# Com --retry, o curl repete em 429, 500, 502, 503, 504 e sem resposta em 30 segundos, até 40
# vezes e por cerca de 5 minutos. Espera o que Retry-After manda; sem ele, um tempo que dobra.
set -euo pipefail

order=$(mktemp)
trap 'rm -f "$order"' EXIT

# A chave vai pela entrada padrão, porque outros usuários da máquina veem os argumentos.
curl --silent --show-error --fail-with-body --retry 40 --retry-max-time 330 \
  --connect-timeout 10 --max-time 30 --output "$order" \
  --header @- "$ORDERS_API_URL/v1/orders/$1" <<< "Authorization: Bearer $ORDERS_API_KEY" ||
  { cat "$order" >&2; exit 1; }
grep -q '"object": *"order"' "$order" ||
  { echo 'A resposta não é da API. Confira ORDERS_API_URL.' >&2; exit 1; }
cat "$order"
