import type { Clock } from '../../../../../src/lib/clock.ts'

/** What happened in a walk, for the message of a violation. */
export interface Trace {
  /** Notes an event of these orders; of all orders when there is none. */
  note(orderIds: readonly string[], text: string): void
  /** The events of an order, one a line, with the seconds since the start. */
  of(orderId: string): string
}

interface Line {
  orderIds: readonly string[]
  text: string
}

/** Creates an empty trace. `clock`: of the walk, in milliseconds. */
export function createTrace(clock: Clock): Trace {
  const startMs = clock()
  const lines: Line[] = []
  return {
    note(orderIds, text) {
      lines.push({ orderIds, text: `  +${(clock() - startMs) / 1_000} s  ${text}` })
    },
    of(orderId) {
      const isOf = ({ orderIds }: Line) => orderIds.length === 0 || orderIds.includes(orderId)
      return lines
        .filter(isOf)
        .map(({ text }) => text)
        .join('\n')
    },
  }
}
