const ATTEMPTS = 7
const TIMEOUT_MS = 60_000

/** Como `fetch`, mas em 429, em 5xx e quando a rede falha espera e tenta de novo; respeita o `Retry-After`. */
export async function fetchWithRetry(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send(request.clone())
    const isTransient = answer instanceof Error || answer.status === 429 || answer.status >= 500
    if (!isTransient) return answer
    if (attempt === ATTEMPTS) {
      if (answer instanceof Response) return answer
      throw new Error('A API não respondeu. Confira ORDERS_API_URL e a rede.', { cause: answer })
    }
    const retryAfter = (answer instanceof Response && answer.headers.get('retry-after')) || ''
    const asked = /^\d+$/.test(retryAfter) ? Number(retryAfter) : 0
    // Espera o maior entre Retry-After e um tempo que dobra.
    const seconds = Math.max(asked, 2 ** (attempt - 1))
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  }
}

/** A resposta inteira: uma que foi cortada no meio também é falha da rede. */
async function send(request: Request): Promise<Response | Error> {
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const { status, headers } = response
    const body = await response.text()
    if (response.ok) JSON.parse(body)
    return new Response(body, { status, headers })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
