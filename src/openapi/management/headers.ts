import {
  cacheControl,
  challengeHeader,
  queryHeaders,
  requestIdHeader,
  retryAfterHeader,
} from '../headers.ts'

/** Every header of a response, by name. */
export const managementHeaders = {
  ...requestIdHeader,
  ...cacheControl('Nada se guarda: uma resposta pode trazer um segredo.', 'no-store'),
  ...queryHeaders,
  ...challengeHeader,
  ...retryAfterHeader,
  'Idempotent-Replayed': {
    description:
      'Presente quando a resposta repete uma anterior, ou devolve a chave que uma chamada com erro já tinha gravado; sem os segredos.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
}

/** Of a 409: present where the same request can succeed later. */
export const conflictHeaders = {
  'Retry-After': { ...retryAfterHeader['Retry-After'], required: false },
}

type HeaderName = keyof typeof managementHeaders

const SHARED = ['Request-Id', 'Cache-Control', 'Ignored-Params', 'Preference-Applied'] as const

/** References to the headers of every response, and to these. */
export function headers(...others: HeaderName[]) {
  const names: HeaderName[] = [...SHARED, ...others]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
