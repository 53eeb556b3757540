const integerHeader = (description: string, minimum: number, example: number, required = true) => ({
  description,
  required,
  schema: { type: 'integer', minimum },
  example,
})

export const requestIdHeader = {
  'Request-Id': {
    description:
      'Identificador da requisição, gerado pelo serviço; informe-o ao falar com o suporte.',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9a-f]{32}$' },
    example: 'req_3f2a9c4e7b1d4f6a8c0e2b4d6f8a1c3e',
  },
}

/** `always`: no answer of that status comes before the account is known. */
export const rateLimitHeaders = ({ always }: { always: boolean }) => ({
  'RateLimit-Limit': integerHeader('Capacidade do balde da conta, em requisições.', 1, 20, always),
  'RateLimit-Remaining': integerHeader('Requisições que restam no balde da conta.', 0, 19, always),
  'RateLimit-Reset': integerHeader('Segundos até o balde da conta encher de novo.', 0, 1, always),
})

export const retryAfterHeader = {
  'Retry-After': integerHeader('Segundos até a requisição poder ser repetida.', 1, 1),
}

export const ignoredParamsHeader = {
  'Ignored-Params': {
    description: 'Nomes dos parâmetros que não existem e por isso não mudaram nada.',
    schema: { type: 'string' },
    example: 'statuss',
  },
}

export const challengeHeader = {
  'WWW-Authenticate': {
    description: 'Como se autenticar.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
}
