#!/usr/bin/env bash
# Lista os pedidos pagos até o fim e imprime uma página de JSON por linha.
# Com --retry, o curl espera o que Retry-After manda em 429 e 503, e tenta de novo em 5xx.
set -euo pipefail

page=$(mktemp)
trap 'rm -f "$page"' EXIT

cursor=''
while true; do
  curl --silent --show-error --fail-with-body --retry 5 --output "$page" \
    --header "Authorization: Bearer $ORDERS_API_KEY" \
    "$ORDERS_API_URL/v1/orders?status=PAID&limit=100${cursor:+&cursor=$cursor}" ||
    { cat "$page" >&2; exit 1; }
  cat "$page"
  echo
  # next_cursor fecha a página, e na última é null; um pedido pode ter um texto igual no meio.
  cursor=$(sed -n 's/.*"next_cursor":"\([^"]*\)"}$/\1/p' "$page")
  [ -n "$cursor" ] || break
done
