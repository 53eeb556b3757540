import { TypeCompiler, type ValueError } from '@sinclair/typebox/compiler'
import { isSandbox } from '../../auth/account-ids.ts'
import { toEpochMs } from '../../lib/instant.ts'
import { parseJson, replaceLoneSurrogates } from '../../lib/text/json.ts'
import { projectOrder, type View } from './order-views.ts'
import { lastPayment } from './payment.ts'
import { SourceDeletion, SourceOrder } from './source-order.ts'

/** One version of an order, checked and projected: what the writer decides about. */
export interface Change {
  orderId: string
  version: number
  ownerAccountId: string
  deleted: boolean
  /** Epoch milliseconds; `null` for a deletion. */
  createdKey: number | null
  /** When this version was created, epoch milliseconds; `null`: no initial fill yet. */
  changedAt: number | null
  /** The payment that the views show; `null` for a deletion. */
  lastPaymentId: string | null
  /** The view of each account; empty for a deletion and for an order that is not visible. */
  views: readonly View[]
  /** Whether the customer's document was neither a CPF nor a CNPJ, and dropped. */
  documentDropped: boolean
}

/** Why a change is rejected: the JSON pointer of the field and the expected value. */
export interface ValidationError {
  path: string
  reason: string
}

/** A longer line is rejected unread. */
export const MAX_ORDER_BYTES = 4 * 1024 * 1024

export const TOO_LONG: ValidationError = {
  path: '',
  reason: `longer than ${MAX_ORDER_BYTES} bytes`,
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const deletions = TypeCompiler.Compile(SourceDeletion)
const orders = TypeCompiler.Compile(SourceOrder)

/** Parses the bytes of one source order; `null` when they are blank. */
export function parseOrder(bytes: Uint8Array): Change | ValidationError | null {
  if (bytes.length > MAX_ORDER_BYTES) return TOO_LONG
  let text: string
  try {
    text = utf8.decode(bytes).trim()
  } catch {
    return { path: '', reason: 'not valid UTF-8' }
  }
  return text === '' ? null : parseChange(text)
}

/**
 * Parses the text of one source order. A text that was cut within an emoji ends with half of a
 * surrogate pair. Many JSON parsers reject that, and OpenSearch does in a field name.
 */
export function parseChange(json: string): Change | ValidationError {
  let source: unknown
  try {
    source = parseJson(replaceLoneSurrogates(json))
  } catch {
    return { path: '', reason: 'expected one JSON object on one line; this is not JSON' }
  }
  if (isDeletion(source)) {
    return deletions.Check(source)
      ? toDeletion(source)
      : toValidationError(deletions.Errors(source).First())
  }
  return orders.Check(source) ? toChange(source) : toValidationError(orders.Errors(source).First())
}

export function isValidationError(result: Change | ValidationError): result is ValidationError {
  return 'reason' in result
}

function isDeletion(source: unknown): boolean {
  return typeof source === 'object' && source !== null && Reflect.get(source, 'deleted') === true
}

function toDeletion({ id, version, owner_account_id }: SourceDeletion): Change {
  return {
    orderId: id,
    version,
    ownerAccountId: owner_account_id,
    deleted: true,
    createdKey: null,
    changedAt: null,
    lastPaymentId: null,
    views: [],
    documentDropped: false,
  }
}

function toChange(source: SourceOrder): Change | ValidationError {
  if (hasTooLongKey(source)) {
    return { path: '/tracking/*', reason: `expected keys of at most ${MAX_KEY_LENGTH} characters` }
  }
  if (isSandbox(source.owner_account_id) && (source.coproducer_account_ids ?? []).length > 0) {
    return { path: '/coproducer_account_ids', reason: 'expected none for an order of a sandbox' }
  }
  const { views, documentDropped } = projectOrder(source)
  const unsafeTotal = firstUnsafeTotal(views)
  if (unsafeTotal) return { path: unsafeTotal, reason: 'the total is beyond 2^53 − 1 cents' }
  return {
    orderId: source.id,
    version: source.version,
    ownerAccountId: source.owner_account_id,
    deleted: false,
    createdKey: toEpochMs(source.created_at),
    changedAt: source.changed_at == null ? null : toEpochMs(source.changed_at),
    lastPaymentId: lastPayment(source.payments).id,
    views,
    documentDropped,
  }
}

// The usual limit of a URL. OpenSearch rejects a document with a longer key, and a JSON schema
// cannot limit the length of keys.
const MAX_KEY_LENGTH = 8_192

function hasTooLongKey({ tracking }: SourceOrder): boolean {
  return Object.keys(tracking ?? {}).some(({ length }) => length > MAX_KEY_LENGTH)
}

/** Checks the totals that the projection computes. The schema checks every other number. */
function firstUnsafeTotal([view]: readonly View[]): string | undefined {
  if (view === undefined) return undefined
  const { items, payment } = view.order
  const item = items.findIndex(({ sub_total }) => !Number.isSafeInteger(sub_total))
  if (item >= 0) return `/items/${item}`
  const { amount, interest_amount, discount_amount, fee, amount_refunded } = payment
  const sums = [amount, interest_amount, discount_amount, fee, amount_refunded ?? 0]
  return sums.every(Number.isSafeInteger) ? undefined : '/payments'
}

function toValidationError(error: ValueError | undefined): ValidationError {
  if (error === undefined) return { path: '', reason: 'the order does not have the source format' }
  const { schema, value } = error
  const path = error.path.replace(UNSAFE_KEY, '$1/*')
  if (value === undefined) return { path, reason: 'is missing' }
  // An optional value is a union with null: report the error of its first variant.
  const inner = error.errors[0]?.First()
  if (inner !== undefined && schema['expected'] === undefined) return toValidationError(inner)
  const expected = schema['expected'] ?? typeNames[schema['type']] ?? error.message
  const expectsNumber = ['integer', 'number'].includes(schema['type'])
  const isLong = schema['type'] === 'array' && Array.isArray(value)
  const got =
    expectsNumber && typeof value === 'number'
      ? value
      : typeNameOf(value) + (isLong ? ` of ${value.length}` : '')
  return { path, reason: `expected ${expected}, got ${got}` }
}

// A key of a buyer's URL may contain an e-mail address or a line break: only plain keys are logged.
const UNSAFE_KEY = /^(\/tracking)\/(?![\w.-]{1,64}$).*$/s

const typeNames: Record<string, string> = { object: 'an object', array: 'a list' }

/** Names the type of a value, never the value: a document sent as a number is personal data. */
function typeNameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'a text'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
