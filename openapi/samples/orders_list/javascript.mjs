// Lista os pedidos pagos até o fim. Node 20 ou mais novo, sem dependências.
const { ORDERS_API_URL, ORDERS_API_KEY } = process.env

async function get(path, query) {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(`${ORDERS_API_URL}${path}?${new URLSearchParams(query)}`, {
      headers: { Authorization: `Bearer ${ORDERS_API_KEY}` },
    })
    if (response.ok) return response.json()
    // Só vale repetir 429 e 5xx. Espera o maior entre Retry-After e um tempo que dobra.
    const worthRepeating = response.status === 429 || response.status >= 500
    if (!worthRepeating || attempt === 5) {
      throw new Error(`${response.status} ${await response.text()}`)
    }
    const seconds = Math.max(Number(response.headers.get('Retry-After')) || 0, 2 ** attempt)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
}

const query = { status: 'PAID', limit: 100 }
for (;;) {
  const page = await get('/v1/orders', query)
  for (const order of page.data) console.log(order.id, order.status, order.amount_total / 100)
  if (!page.has_more) break
  query.cursor = page.next_cursor
}
