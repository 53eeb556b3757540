import { UsageError } from './errors.ts'

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/
const EXAMPLE = 'https://api.exemplo.com.br'

/** @throws UsageError for a call without options, as of a program without types */
export function requireOptions(options: unknown): void {
  if (typeof options === 'object' && options !== null) return
  throw new UsageError(
    `Faltam as opções do cliente: createOrdersClient({ baseUrl: '${EXAMPLE}', apiKey: process.env.ORDERS_API_KEY }).`,
  )
}

/**
 * The base address of the API without a trailing slash. A path that ends in `/v1` or `/v1/orders`
 * is accepted and shortened.
 * @throws UsageError for an invalid address, and for plain HTTP, which would expose the key
 */
export function parseBaseUrl(text: string | URL | undefined): string {
  if (text === undefined || text === '') {
    throw new UsageError(`Falta o endereço da API (baseUrl). Use, por exemplo, ${EXAMPLE}.`)
  }
  const url = parse(text)
  if (url === null) {
    // The message omits the text, which may be a key in the wrong option.
    throw new UsageError(
      `O endereço da API não é um endereço inteiro. Use, por exemplo, ${EXAMPLE}.`,
    )
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(
      `O endereço da API tem só protocolo, servidor e caminho, por exemplo ${EXAMPLE}; a chave nunca vai nele.`,
    )
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw new UsageError(
      `Por http:// a chave trafegaria sem proteção. Use https://${url.host}${url.pathname}.`,
    )
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new UsageError(`A API atende por https://, e não por ${url.protocol}//.`)
  }
  return `${url.origin}${url.pathname}`.replace(/(\/v1(\/orders)?)?\/*$/, '')
}

// Node 20 has no `URL.parse`.
function parse(text: string | URL): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/**
 * The key without the trailing line break of a file or a shell.
 * @throws UsageError for an impossible key, since thirty 401 responses block the caller's address
 */
export function parseApiKey(text: string | undefined): string {
  const key = text?.trim() ?? ''
  if (key === '') throw new UsageError('Falta a chave de API da conta (apiKey).')
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError('A chave de API tem espaços ou caracteres que uma chave não tem.')
  }
  return key
}

/** @throws UsageError for milliseconds outside the limits, such as NaN */
export function assertDuration(
  name: string,
  ms: number,
  { minMs = 0, maxMs = Infinity } = {},
): void {
  if (ms >= minMs && ms <= maxMs) return
  const limits = maxMs === Infinity ? `de ${minMs} em diante` : `de ${minMs} a ${maxMs}`
  throw new UsageError(`${name}: ${ms} não é um tempo válido em milissegundos, ${limits}.`)
}

/** @throws UsageError in a browser, where every visitor of the page could read the key */
export function rejectBrowsers(): void {
  if ('window' in globalThis && 'document' in globalThis) {
    throw new UsageError(
      'Este cliente não é para navegadores: a chave da conta ficaria à vista. Chame a API a partir do seu servidor.',
    )
  }
}
