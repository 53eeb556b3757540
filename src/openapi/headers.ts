const integerHeader = (description: string, minimum: number, example: number, required = true) => ({
  description,
  required,
  schema: { type: 'integer', minimum },
  example,
})

/** The only supported preference, as a request sends it and a response confirms it. */
export const STRICT_PREFERENCE = 'handling=strict'
export const EXAMPLE_ETAG = '"mZ4tQ0vT1x7cWfK2aB9dLg"'
export const EXAMPLE_REQUEST_ID = 'req_3f2a9c4e7b1d4f6a8c0e2b4d6f8a1c3e'

export const cacheControl = (description: string, value: string, required = true) => ({
  'Cache-Control': {
    description,
    required,
    schema: { type: 'string', const: value },
    example: value,
  },
})

export const requestIdHeader = {
  'Request-Id': {
    description:
      'Identificador da requisição, gerado pelo serviço; informe-o ao falar com o suporte.',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9a-f]{32}$' },
    example: EXAMPLE_REQUEST_ID,
  },
}

/** `always`: every response of that status follows authentication. */
export const rateLimitHeaders = ({ always }: { always: boolean }) => ({
  'RateLimit-Limit': integerHeader('Capacidade do balde da conta, em requisições.', 1, 20, always),
  'RateLimit-Remaining': integerHeader('Requisições que restam no balde da conta.', 0, 19, always),
  'RateLimit-Reset': integerHeader('Segundos até o balde da conta encher de novo.', 0, 1, always),
})

export const retryAfterHeader = {
  'Retry-After': integerHeader('Segundos até a requisição poder ser repetida.', 1, 1),
}

/** How the query was parsed; absent without unknown parameters or a preference. */
export const queryHeaders = {
  'Ignored-Params': {
    description:
      'Nomes dos parâmetros que não existem e por isso não mudaram nada: uma lista da RFC 9651, no máximo 10, codificados como em uma URL. `did-you-mean` traz o parâmetro de nome mais próximo, quando há um.',
    schema: { type: 'string' },
    example: 'statuss;did-you-mean=status, foo',
  },
  'Preference-Applied': {
    description: 'Presente quando `Prefer: handling=strict` foi atendido (RFC 7240).',
    schema: { type: 'string', const: STRICT_PREFERENCE },
    example: STRICT_PREFERENCE,
  },
}

/** The headers of a response that clients can cache and must revalidate. */
export const cacheableHeaders = {
  ETag: {
    description:
      'Identifica estes bytes; envie-o em `If-None-Match` e receba `304` enquanto nada mudar. Começa com `W/` quando a resposta vem comprimida.',
    required: true,
    schema: { type: 'string', pattern: '^(W/)?"[0-9A-Za-z_-]{22}"$' },
    example: EXAMPLE_ETAG,
  },
  ...cacheControl(
    'Guarde a resposta só para a própria conta e pergunte de novo a cada uso.',
    'private, no-cache',
  ),
}

/** `always`: only the API, never the server or a proxy, sends that status. */
export const errorCacheHeader = ({ always }: { always: boolean }) =>
  cacheControl('Um erro não se guarda.', 'no-store', always)

export const challengeHeader = {
  'WWW-Authenticate': {
    description: 'Como se autenticar.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
}
