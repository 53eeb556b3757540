import {
  type FilterGeneration,
  filterGenerations,
} from '../../../orders/filters/filter-generations.ts'

/** The names of aliases, each on one index. `INDEX_PREFIX` precedes every name. */
export interface IndexNames {
  orders: string
  /** The index of version records. */
  versionRecords: string
  /** The index of event records, which the writer leaves for the dispatcher of webhooks. */
  eventRecords: string
  writer: string
  keys: string
  accounts: string
  webhookEndpoints: string
  webhookDeliveries: string
  /** The audit log. */
  audit: string
  usage: string
  /** Links to the console, and its sessions. */
  sessions: string
  idempotentRequests: string
  /** The last source order of each order of a sandbox. */
  sandboxOrders: string
  /**
   * Whether this is a version of the orders index, by its whole name, since prefixes may overlap.
   */
  isVersion(index: string): boolean
  /** The alias through which only the writer of this epoch writes to an index. */
  writeAlias(index: string, epoch: number): string
  /**
   * On the live index while every document has the columns of the generation: see
   * `reindex/reindex.md`.
   */
  filterAlias(generation: FilterGeneration): string
  /** Patterns of the write aliases of all epochs. */
  writeAliases: readonly string[]
  /** The alias for the copies of a reindex. */
  copyAlias(index: string): string
  /** Whether a fence removes this alias from every index but the write targets. */
  isFenced(alias: string): boolean
  /** The `X-Opaque-Id` of the writer's bulks in the task list. */
  opaqueId(epoch: number | '*'): string
}

/** The names of all indices and aliases under `prefix`, which may be empty. */
export function indexNames(prefix: string): IndexNames {
  const orders = `${prefix}orders`
  const versionRecords = `${prefix}order-heads`
  const eventRecords = `${prefix}order-events`
  const filterAlias = ({ alias }: FilterGeneration) => `${orders}-${alias}`
  const writeAliases = [orders, versionRecords, eventRecords].map((alias) => `${alias}-w-*`)
  return {
    orders,
    versionRecords,
    eventRecords,
    writer: `${prefix}writer`,
    keys: `${prefix}api-keys`,
    accounts: `${prefix}accounts`,
    webhookEndpoints: `${prefix}webhook-endpoints`,
    webhookDeliveries: `${prefix}webhook-deliveries`,
    audit: `${prefix}audit-log`,
    usage: `${prefix}api-usage`,
    sessions: `${prefix}console-sessions`,
    idempotentRequests: `${prefix}idempotent-requests`,
    sandboxOrders: `${prefix}sandbox-orders`,
    isVersion: (index) => index.replace(VERSION, '') === orders && VERSION.test(index),
    writeAlias: (index, epoch) => index.replace(VERSION, `-w-${epoch}-v$1`),
    filterAlias,
    writeAliases,
    copyAlias: (index) => index.replace(VERSION, '-copy-v$1'),
    isFenced: (alias) =>
      [orders, ...filterGenerations.map(filterAlias), versionRecords].includes(alias) ||
      writeAliases.some((pattern) => alias.startsWith(pattern.slice(0, -1))),
    opaqueId: (epoch) => `${orders}-w-${epoch}`,
  }
}

const VERSION = /-v(\d+)$/

/** The version number in the name of an index. */
export function indexVersion(index: string): number {
  return Number(VERSION.exec(index)?.[1])
}

/** The name of this version of the index behind an alias. */
export function concreteIndex(alias: string, version: number | '*'): string {
  return `${alias}-v${version}`
}

/** Whether this is a version of the index behind the alias, by its whole name. */
export function isVersionOf(alias: string, index: string): boolean {
  return index === concreteIndex(alias, indexVersion(index))
}
