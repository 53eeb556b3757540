import { UsageError } from './errors.ts'

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/
const EXAMPLE = 'https://api.exemplo.com.br'

/**
 * The address below which `/v1` is, without a slash at its end. One that goes on to `/v1` or `/v1/orders` is taken too.
 * @throws UsageError for what is no address, and for plain HTTP, where the key could be read on its way
 */
export function parseBaseUrl(text: string | URL): string {
  const url = parse(text)
  if (url === null) {
    // It is not repeated: somebody may have put the key in its place.
    throw new UsageError(
      `O endereço da API não é um endereço inteiro. Use, por exemplo, ${EXAMPLE}.`,
    )
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(
      `O endereço da API é só protocolo, servidor e caminho, por exemplo ${EXAMPLE}; a chave nunca vai nele.`,
    )
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw new UsageError(
      `Por http:// a chave viajaria sem proteção. Use https://${url.host}${url.pathname}.`,
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
 * A key without the line break that files and shells leave behind it.
 * @throws UsageError for what no key can be; better than thirty 401 answers, which would block the address
 */
export function parseApiKey(text: string | undefined): string {
  const key = text?.trim() ?? ''
  if (key === '') throw new UsageError('Falta a chave de API da conta.')
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError('A chave de API tem espaços ou caracteres que não são de uma chave.')
  }
  return key
}

/** @throws UsageError in a browser, where everybody who sees the page could read the key */
export function refuseBrowsers(): void {
  if ('window' in globalThis && 'document' in globalThis) {
    throw new UsageError(
      'Este cliente não é para navegadores: a chave da conta ficaria à vista. Chame a API do seu servidor.',
    )
  }
}
