const integerHeader = (description: string, minimum: number, example: number) => ({
  description,
  schema: { type: 'integer', minimum },
  example,
})

export const requestIdHeader = {
  'Request-Id': {
    description:
      'Identificador da requisição, gerado pelo serviço; informe-o ao falar com o suporte.',
    schema: { type: 'string', pattern: '^req_[0-9a-f]{32}$' },
    example: 'req_3f2a9c4e7b1d4f6a8c0e2b4d6f8a1c3e',
  },
}

export const rateLimitHeaders = {
  'RateLimit-Limit': integerHeader('Capacidade do balde da conta, em requisições.', 1, 20),
  'RateLimit-Remaining': integerHeader('Requisições que restam no balde da conta.', 0, 19),
  'RateLimit-Reset': integerHeader('Segundos até o balde da conta encher de novo.', 0, 1),
}

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
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
}
