import { ConnectionError } from './errors.ts'

/** What Node and Bun call a certificate that is not trusted, and what Deno says, which has no codes. */
const CERTIFICATE =
  /\b(CERT_\w+|ERR_TLS_CERT\w+|UNABLE_TO_\w+|\w*SELF_SIGNED_CERT\w*)\b|invalid peer certificate/
const CLOCK = /CERT_NOT_YET_VALID|CERT_HAS_EXPIRED|certificate: (Expired|NotValidYet)/

/** What happened to a call that got no whole answer, and what to do about it. */
export function connectionFault(url: string, cause: unknown): ConnectionError {
  const { host } = new URL(url)
  const told = chainOf(cause)
  if (CERTIFICATE.test(told)) {
    const help = CLOCK.test(told)
      ? 'Ele venceu ou ainda não vale: confira também o relógio desta máquina.'
      : 'Confira o endereço; atrás de um proxy da empresa, instale o certificado dele.'
    return new ConnectionError(
      `O certificado de ${host} não é confiável (${told}), e a chave não foi enviada. ${help}`,
      { cause, isFinal: true },
    )
  }
  return new ConnectionError(
    `Não veio uma resposta inteira de ${host} (${told}). Confira a rede e o endereço.`,
    { cause, isFinal: false },
  )
}

/** An error in a few words, with what it was caused by: `fetch failed` alone says nothing. */
function chainOf(error: unknown): string {
  const words: string[] = []
  for (let at = error; at instanceof Error && words.length < 4; at = at.cause) {
    if (at.name === 'TimeoutError') return 'a resposta demorou demais'
    const { code } = at as NodeJS.ErrnoException
    const isNews = typeof code === 'string' && !at.message.includes(code)
    words.push(...(isNews ? [code, at.message] : [at.message]))
  }
  return words.filter((word) => word !== '').join(': ') || String(error)
}
