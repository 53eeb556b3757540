import { ApiError, EdgeError, UnexpectedResponseError } from './errors.ts'
import type { Transport } from './http/transport.ts'
import type { Account } from './schema.ts'

/** The account and the key of the client. An error for which `isFinal` is true is not retried. */
export async function getAccount(
  transport: Transport,
  signal?: AbortSignal,
  isFinal?: (error: unknown) => boolean,
): Promise<Account> {
  const query = new URLSearchParams()
  const { body, requestId } = await transport.get('/v1/account', query, signal, isFinal)
  if (isAccount(body)) return body
  throw new UnexpectedResponseError('A resposta não é uma conta. Confira o endereço da API.', {
    status: 200,
    requestId,
  })
}

function isAccount(value: unknown): value is Account {
  const { object, id, key } = (value ?? {}) as Partial<Account>
  return object === 'account' && typeof id === 'string' && Array.isArray(key?.scopes)
}

/** Of a service that is older than `GET /v1/account`. */
export const isUnknownPath = (error: unknown) => error instanceof ApiError && error.status === 404

/** Also of a gateway before the service that allows only the paths it knows. */
export function isRefusedPath(error: unknown): boolean {
  if (isUnknownPath(error)) return true
  const isForeign = error instanceof EdgeError || error instanceof UnexpectedResponseError
  return isForeign && [403, 404, 405].includes(error.status)
}
