import { ConnectionError } from './errors.ts'

/** Codes that Node, Deno and Bun give to a certificate that is not trusted. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|certificate|UnknownIssuer/i
const CLOCK = /NOT_YET_VALID|HAS_EXPIRED|expired|not valid yet/i

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
