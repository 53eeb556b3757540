import { ConnectionError } from '../errors.ts'

/** Certificate errors: codes of Node and Bun, and the text of Deno, which has no codes. */
const CERTIFICATE =
  /\b(CERT_\w+|ERR_TLS_CERT\w+|UNABLE_TO_\w+|\w*SELF_SIGNED_CERT\w*)\b|invalid peer certificate/
/** OpenSSL's and Deno's words for a response that is no TLS. */
const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|InvalidContentType/
const CLOCK = /CERT_NOT_YET_VALID|CERT_HAS_EXPIRED|certificate: (Expired|NotValidYet)/

const TIMED_OUT = 'a resposta demorou demais'

/** The error of a call without a complete response, with the next step for its cause. */
export function toConnectionError(url: string, cause: unknown): ConnectionError {
  const { host, protocol } = new URL(url)
  const causes = describeCauses(cause)
  if (CERTIFICATE.test(causes)) {
    const help = CLOCK.test(causes)
      ? 'Ele venceu ou ainda não vale: confira também o relógio desta máquina.'
      : 'Confira o endereço; atrás de um proxy da empresa, instale o certificado dele.'
    return new ConnectionError(
      `O certificado de ${host} não é confiável (${causes}), e a chave não foi enviada. ${help}`,
      { cause, isFinal: true },
    )
  }
  if (NO_TLS.test(causes)) {
    return new ConnectionError(
      `O endereço é https, mas ${host} responde http; a chave não foi enviada. Confira a porta. Se o serviço está nesta máquina, use http://.`,
      { cause, isFinal: true },
    )
  }
  return new ConnectionError(
    `Nenhuma resposta inteira chegou de ${host} (${causes}). Confira a rede e o endereço.`,
    { cause, isFinal: false, isTimeout: causes === TIMED_OUT, isHttps: protocol === 'https:' },
  )
}

/** An error and its causes in one line; the message `fetch failed` alone names no cause. */
function describeCauses(error: unknown): string {
  const words: string[] = []
  for (let at = error; at instanceof Error && words.length < 4; at = at.cause) {
    if (at.name === 'TimeoutError') return TIMED_OUT
    const { code } = at as NodeJS.ErrnoException
    const addsCode = typeof code === 'string' && !at.message.includes(code)
    words.push(...(addsCode ? [code, at.message] : [at.message]))
  }
  return words.filter((word) => word !== '').join(': ') || String(error)
}
