#!/usr/bin/env bash
# Lista os pedidos pagos até o fim e imprime uma página de JSON por linha.
# Com --retry, o curl repete em 429, 500, 502, 503, 504 e sem resposta em 30 segundos, até 40
# vezes e por cerca de 5 minutos. Espera o que Retry-After manda; sem ele, um tempo que dobra.
set -euo pipefail

page=$(mktemp)
trap 'rm -f "$page"' EXIT

# O último valor deste nome: o da página, porque os pedidos podem ter campos iguais.
last() {
  sed -n 's/.*"'"$1"'": *"\{0,1\}\([^",}]*\).*/\1/p' "$page"
}

cursor=''
while true; do
  # A chave vai pela entrada padrão, porque outros usuários da máquina veem os argumentos.
  curl --silent --show-error --fail-with-body --retry 40 --retry-max-time 330 \
    --connect-timeout 10 --max-time 30 --output "$page" --header @- \
    "$ORDERS_API_URL/v1/orders?status=PAID&limit=100${cursor:+&cursor=$cursor}" \
    <<< "Authorization: Bearer $ORDERS_API_KEY" ||
    { cat "$page" >&2; exit 1; }
  grep -q '"object": *"list"' "$page" ||
    { echo 'A resposta não é da API. Confira ORDERS_API_URL.' >&2; exit 1; }
  cat "$page"
  echo
  if [ "$(last has_more)" = false ]; then break; fi
  cursor=$(last next_cursor)
  [ -n "$cursor" ] || { echo 'Falta next_cursor na resposta.' >&2; exit 1; }
done
