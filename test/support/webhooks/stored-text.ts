import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Backend, onServices, opensearch } from '../stores/backend.ts'

/** Where the stores of a test are. */
type Stores = Pick<Backend, 'env' | 'refresh'>

/** Of webhooks; the rest of a store has the orders. */
const TABLES = ['order_events', 'order_heads', 'endpoints', 'deliveries']
const INDICES = ['order-events', 'order-heads', 'webhook-endpoints', 'webhook-deliveries']

/**
 * Everything that the stores have about webhooks, as one text: event records, version records,
 * endpoints and deliveries.
 */
export const storedWebhooksText = (stores: Stores): Promise<string> =>
  onServices ? searchAll(stores, INDICES) : dump(stores, TABLES)

/** The same with the orders. */
export const storedOrdersText = (stores: Stores): Promise<string> =>
  onServices ? searchAll(stores, [...INDICES, 'orders']) : dump(stores, [...TABLES, 'orders'])

async function dump({ env }: Stores, wanted: readonly string[]): Promise<string> {
  const folder = `${env['DATA_DIR']}`
  const files = readdirSync(folder).filter((name) => name.endsWith('.db'))
  const rows = files.flatMap((name) => {
    using db = new DatabaseSync(join(folder, name), { readOnly: true })
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    const present = tables.map((table) => `${table['name']}`).filter((one) => wanted.includes(one))
    return present.flatMap((table) => db.prepare(`SELECT * FROM ${table}`).all())
  })
  return JSON.stringify(rows, (_name, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  )
}

async function searchAll({ env, refresh }: Stores, names: readonly string[]): Promise<string> {
  await refresh()
  const indices = names.map((name) => `${env['INDEX_PREFIX']}${name}`).join(',')
  return JSON.stringify(await opensearch('POST', `${indices}/_search`, { size: 10_000 }))
}
