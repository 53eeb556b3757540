import type { WebhookEvent } from '../../src/client/client.ts'

const TYPE_WIDTH = 'order.awaiting_payment'.length

/** An event in one line: its type, its sequence, and what changed. */
export function describeEvent({ type, sequence, change, ...event }: WebhookEvent): string {
  const changes = Object.entries(change).map(
    ([key, [before, after]]) => `${key} ${before ?? 'none'} → ${after ?? 'none'}`,
  )
  const order = 'data' in event && event.data ? '' : '; only the id: delete your copy'
  return `  ${type.padEnd(TYPE_WIDTH)}  sequence ${sequence}  ${changes.join(', ') || 'no change of state'}${order}`
}
