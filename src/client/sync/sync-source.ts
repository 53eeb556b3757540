import { createHash } from 'node:crypto'
import { formatInstant, hasFourDigitYear } from '../../lib/instant.ts'
import { parseQueryInstant } from '../../orders/filters/query-instant.ts'
import { UsageError } from '../errors.ts'
import { getAccount, isRefusedPath, isUnknownPath } from '../get-account.ts'
import type { Transport } from '../http/transport.ts'
import type { SyncState } from './sync-store.ts'

/** The API and the account that a store is synced with. */
export interface SyncSource {
  url: string
  apiKey: string
}

/**
 * The saved state, or the initial one.
 * @throws UsageError for a store of another API, another key or a newer client, and for an invalid
 *   `since`
 */
export function openState(
  state: SyncState | null,
  { url, apiKey }: SyncSource,
  { since, acceptNewKey = false }: { since?: string | Date; acceptNewKey?: boolean },
): SyncState {
  const source = { url, key: digest(apiKey) }
  if (state === null) return initialState(source, since)
  if (state.version !== 1) {
    throw new UsageError(
      'Esta cópia foi escrita por uma versão mais nova do cliente: atualize o cliente, ou comece outra cópia.',
    )
  }
  if (state.source.url !== url) {
    throw new UsageError(
      `Esta cópia é dos pedidos de ${state.source.url}, e não de ${url}. Use outro destino para outra API.`,
    )
  }
  if (state.source.key !== source.key && !acceptNewKey) {
    throw new UsageError(
      'A chave não é a da última sincronização desta cópia. Se for uma chave nova da mesma conta, confirme com acceptNewKey (no comando: --accept-new-key); se for de outra conta, use outro destino.',
    )
  }
  if (state.source.key === source.key) return { ...state, source }
  // The new key may mask other fields, so all orders are read again, also those of a run that the
  // earlier key began.
  return { ...state, source, walkedAt: null, pass: { ...state.pass, reached: 'done' } }
}

/**
 * Confirms that the key is of the account whose orders the store has, and keeps that account in the
 * state. One request, and only where the state is new, of an earlier client, or of another key.
 * @throws UsageError for the key of another account, or of its sandbox; errors of the request
 */
export async function confirmAccount(
  opened: SyncState,
  saved: SyncState | null,
  transport: Transport,
  signal?: AbortSignal,
): Promise<SyncState> {
  const { account: known, source } = opened
  if (known !== undefined && saved?.source.key === source.key) return opened
  const isNewKey = saved !== null && saved.source.key !== source.key
  const isAbsent = isNewKey && known !== undefined ? isUnknownPath : isRefusedPath
  const account = await readAccount(transport, signal, isAbsent)
  if (account === null) return opened
  if (known !== undefined && known.id !== account.id) {
    throw new UsageError(
      `Esta cópia é dos pedidos da conta ${known.id}, e a chave é da conta ${account.id}. Use outro destino para outra conta.`,
    )
  }
  if (known !== undefined && known.test !== account.test) {
    const [theirs, ours] = account.test ? ['do sandbox', 'reais'] : ['reais', 'do sandbox']
    throw new UsageError(
      `Esta cópia é dos pedidos ${ours} da conta ${known.id}, e a chave lê os pedidos ${theirs}. Use outro destino para eles.`,
    )
  }
  return { ...opened, account }
}

/** `null` where the request fails as `isAbsent`. */
async function readAccount(
  transport: Transport,
  signal: AbortSignal | undefined,
  isAbsent: (error: unknown) => boolean,
): Promise<NonNullable<SyncState['account']> | null> {
  try {
    const { id, test } = await getAccount(transport, signal, isAbsent)
    return { id, test }
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

function initialState(source: SyncState['source'], since: string | Date | undefined): SyncState {
  const pass = { number: 0, kind: 'all', updatedGte: null, cursor: null, reached: 'done' } as const
  const from = since === undefined ? null : parseSince(since)
  const start = { since: from, watermark: null, walkedAt: null }
  return { version: 1, source, ...start, pass }
}

/**
 * The instant that the API reads. `Date` would accept a text without a zone, or of a day that does
 * not exist, and the store would keep the wrong start.
 */
function parseSince(since: string | Date): string {
  const epochMs = since instanceof Date ? since.getTime() : parseText(String(since))
  if (Number.isNaN(epochMs)) throw new UsageError('since: a data não é válida (Invalid Date).')
  if (hasFourDigitYear(epochMs)) return formatInstant(epochMs)
  throw new UsageError('since: o instante fica fora dos anos 0000 a 9999 em UTC.')
}

function parseText(since: string): number {
  const parsed = parseQueryInstant(since)
  if (typeof parsed !== 'string') return parsed.ceilMs
  throw new UsageError(`since: "${since}" não é um instante. ${parsed}`)
}

/** Shows whether a key changed without revealing it. */
const digest = (apiKey: string) => createHash('sha256').update(apiKey).digest('hex').slice(0, 16)
