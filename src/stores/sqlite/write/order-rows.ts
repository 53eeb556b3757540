import type { SQLOutputValue } from 'node:sqlite'
import {
  hasKeysOf,
  hasReadableKeys,
  isReadableOrder,
  type StoredKeys,
} from '../../../indexing/writer/order-document.ts'
import type { StoredView, UnreadableView } from '../../../indexing/writer/order-index.ts'
import type { OrderVersionRecord } from '../../../indexing/writer/version-record.ts'
import { parseJson } from '../../../lib/text/json.ts'

export type Row = Record<string, SQLOutputValue>

type StoredColumns = Omit<StoredKeys, 'filterKeys'> & { paid_key: unknown }

/** Converts a row of `orders`. A key beyond the safe integers makes it unreadable, or damaged. */
export function storedView(row: Row): StoredView | UnreadableView {
  const { lookups, ...columns } = row
  const stored = withNumbers(columns) as Required<Omit<StoredView, 'isIntact'>> & StoredColumns
  const { accountId, orderId } = stored
  const order = parseOrUndefined(stored.json)
  if (!hasReadableKeys(stored) || !isReadableOrder(order)) {
    return { accountId, orderId, isUnreadable: true }
  }
  const { paid_key } = stored
  const keys = {
    ...stored,
    filterKeys: { paid_key, ...Object(parseOrUndefined(lookups as string)) },
  }
  return { ...stored, isIntact: (view) => hasKeysOf(view, keys) }
}

function withNumbers(row: Row): unknown {
  const entries = Object.entries(row)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  )
}

/** The value of stored JSON; `undefined` when it is invalid. */
export function parseOrUndefined(json: Uint8Array | string): unknown {
  try {
    return parseJson(typeof json === 'string' ? json : Buffer.from(json).toString())
  } catch {
    return undefined
  }
}

/** Converts a row of `order_heads`. */
export function versionRecordOf(row: Row): OrderVersionRecord {
  return {
    orderId: row['id'] as string,
    version: row['version'] as number,
    ownerAccountId: row['owner_account_id'] as string,
    accountIds: (row['account_ids'] as string).split(' ').filter(Boolean),
    createdKey: row['created_key'] as number | null,
    hasUpdatedAt: row['filled'] === 1,
    deleted: row['deleted'] === 1,
    ...(row['announced'] !== null && { announced: JSON.parse(row['announced'] as string) }),
  }
}
