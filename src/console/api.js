/** A failed call, with a sentence for the user. */
export class CallError extends Error {
  /** `isRunning`: an earlier call with the same `Idempotency-Key` has not ended. */
  constructor(message, status, isRunning = false) {
    super(message)
    this.status = status
    this.isRunning = isRunning
  }
}

const OFFLINE = 'Não foi possível falar com o servidor. Confira a sua conexão e tente de novo.'
const UNEXPECTED = 'Algo falhou do nosso lado. Tente de novo em instantes.'

let clockOffsetMs = 0

/**
 * Now for the server, in epoch milliseconds, by the date of its latest response. The clock of the
 * browser may be wrong by hours.
 */
export const serverNow = () => Date.now() + clockOffsetMs

/** Calls the service. `idempotencyKey`: calls with the same one change once. @throws CallError */
export async function call(method, path, body, idempotencyKey) {
  const { response, text } = await send(method, path, body, idempotencyKey)
  const json = text === '' ? null : parse(text)
  if (response.ok) return json
  if (response.status === 401 && path !== '/v1/session') {
    document.dispatchEvent(new CustomEvent('session-ended'))
  }
  // To the session of another account, this one does not exist.
  if (response.status === 404 && path.startsWith('/v1/accounts/')) {
    document.dispatchEvent(new CustomEvent('session-doubtful'))
  }
  const isRunning = response.status === 409 && response.headers.has('retry-after')
  const message = json?.error?.message ?? UNEXPECTED
  // The messages are those of the management API, and the page says “webhook”.
  throw new CallError(message.replace(/\bendpoint/g, 'webhook'), response.status, isRunning)
}

async function send(method, path, body, idempotencyKey) {
  const json = body && {
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    },
  }
  try {
    const response = await fetch(path, { method, credentials: 'same-origin', ...json })
    const dateMs = Date.parse(response.headers.get('date'))
    if (!Number.isNaN(dateMs)) clockOffsetMs = dateMs - Date.now()
    return { response, text: await response.text() }
  } catch {
    throw new CallError(OFFLINE, 0)
  }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new CallError(UNEXPECTED, 0)
  }
}

/** The calls of one account: `get('/keys')`. */
export function accountApi(accountId) {
  const base = `/v1/accounts/${encodeURIComponent(accountId)}`

  async function list(path) {
    const items = []
    let cursor = null
    do {
      const query = new URLSearchParams({ limit: '100', ...(cursor && { cursor }) })
      const page = await call('GET', `${base}${path}?${query}`)
      items.push(...page.data)
      cursor = page.next_cursor
    } while (cursor)
    return items
  }

  return {
    accountId,
    /** The items of every page of a list. */
    list,
    get: (path) => call('GET', base + path),
    post: (path, body = {}, idempotencyKey) => call('POST', base + path, body, idempotencyKey),
    patch: (path, body) => call('PATCH', base + path, body),
    delete: (path) => call('DELETE', base + path),
  }
}
