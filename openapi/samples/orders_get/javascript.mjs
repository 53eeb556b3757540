// Busca um pedido: node pedido.mjs ord_…
const { ORDERS_API_URL, ORDERS_API_KEY } = process.env
const [, , id] = process.argv

for (let attempt = 0; ; attempt++) {
  const response = await fetch(`${ORDERS_API_URL}/v1/orders/${encodeURIComponent(id)}`, {
    headers: { Authorization: `Bearer ${ORDERS_API_KEY}` },
  })
  if (response.ok) {
    console.log(await response.json())
    break
  }
  // Só vale repetir 429 e 5xx. Espera o maior entre Retry-After e um tempo que dobra.
  const worthRepeating = response.status === 429 || response.status >= 500
  if (!worthRepeating || attempt === 5) {
    throw new Error(`${response.status} ${await response.text()}`)
  }
  const seconds = Math.max(Number(response.headers.get('Retry-After')) || 0, 2 ** attempt)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
}
