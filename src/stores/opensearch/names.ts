/** What the service keeps in OpenSearch is called; `INDEX_PREFIX` goes before every name. */
export interface IndexNames {
  /** The alias that orders are read from, over one `orders-vN`. */
  orders: string
  ordersVersion(version: number | '*'): string
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
    ordersVersion: (version) => `${orders}-v${version}`,
    heads,
    writer: `${prefix}writer`,
    keys: `${prefix}api-keys`,
    accounts: `${prefix}accounts`,
    writeAliases: (epoch) => ({ orders: `${orders}-w-${epoch}`, heads: `${heads}-w-${epoch}` }),
    bulkMark: (epoch) => `${orders}-w-${epoch}`,
  }
}
