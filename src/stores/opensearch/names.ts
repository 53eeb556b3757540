/** How what the service keeps is called: aliases, each over one index; `INDEX_PREFIX` goes before every name. */
export interface IndexNames {
  orders: string
  heads: string
  writer: string
  keys: string
  accounts: string
  /** The aliases that the writer of this epoch writes to, and no other writer. */
  writeAliases(epoch: number | '*'): { orders: string; heads: string }
  /** Marks the writer's bulks among the tasks of the cluster. */
  bulkMark(epoch: number | '*'): string
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
    writeAliases: (epoch) => ({ orders: `${orders}-w-${epoch}`, heads: `${heads}-w-${epoch}` }),
    bulkMark: (epoch) => `${orders}-w-${epoch}`,
  }
}

/** The index behind an alias, in this version of its mapping. */
export function indexBehind(alias: string, version: number | '*'): string {
  return `${alias}-v${version}`
}
