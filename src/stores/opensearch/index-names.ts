/** How what the service keeps is called: aliases, each over one index; `INDEX_PREFIX` goes before every name. */
export interface IndexNames {
  orders: string
  heads: string
  writer: string
  keys: string
  accounts: string
  /** Whether an index is a version of the orders, by its whole name: others may begin like it. */
  isVersion(index: string): boolean
  /** The alias through which the writer of this epoch writes to an index, and no other writer does. */
  writeAlias(index: string, epoch: number): string
  /** Patterns of the aliases of every epoch. */
  writeAliases: readonly string[]
  /** The alias through which a new index is filled with what the old one has. */
  copyAlias(index: string): string
  /** Marks the writer's bulks among the tasks of the cluster. */
  opaqueId(epoch: number | '*'): string
}

export function indexNames(prefix: string): IndexNames {
  const orders = `${prefix}orders`
  const heads = `${prefix}order-heads`
  return {
    orders,
    heads,
    writer: `${prefix}writer`,
    keys: `${prefix}api-keys`,
    accounts: `${prefix}accounts`,
    isVersion: (index) => index.replace(VERSION, '') === orders && VERSION.test(index),
    writeAlias: (index, epoch) => index.replace(VERSION, `-w-${epoch}-v$1`),
    writeAliases: [`${orders}-w-*`, `${heads}-w-*`],
    copyAlias: (index) => index.replace(VERSION, '-copy-v$1'),
    opaqueId: (epoch) => `${orders}-w-${epoch}`,
  }
}

const VERSION = /-v(\d+)$/

/** The version in the name of an index. */
export function indexVersion(index: string): number {
  return Number(VERSION.exec(index)?.[1])
}

/** The index behind an alias, in this version of its mapping. */
export function concreteIndex(alias: string, version: number | '*'): string {
  return `${alias}-v${version}`
}
