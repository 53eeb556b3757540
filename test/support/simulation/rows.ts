/** What a row of a listing tells of its order: enough to know which version it shows. */
export interface Row {
  id: string
  content: number
  hasUpdatedAt: boolean
}

export function rowOf(json: Uint8Array): Row {
  const { id, amount_total, updated_at } = JSON.parse(Buffer.from(json).toString())
  return { id, content: amount_total, hasUpdatedAt: updated_at !== null }
}

/** Drops the orders that are not there any more, even if they come back. */
export function deleteMissing(orders: Map<string, Row>, truth: ReadonlyMap<string, Row>): void {
  for (const id of orders.keys()) if (!truth.has(id)) orders.delete(id)
}
