import { type Change, isValidationError, type ValidationError } from '../projection/change.ts'
import type { WriteResult } from '../writer/decide.ts'
import type { WriteMode } from '../writer/order-index.ts'
import type { Writer } from '../writer/writer.ts'

/**
 * Writes a batch that may have several changes of one order, in their sequence, and returns the result of
 * each entry. A bulk has one change of each order, so second changes go into a second bulk.
 */
export async function writeChanges(
  writer: Writer,
  entries: readonly (Change | ValidationError)[],
  mode: WriteMode,
): Promise<WriteResult[]> {
  const results: WriteResult[] = entries.map((entry) =>
    isValidationError(entry) ? entry : 'unchanged',
  )
  for (const round of inRounds(entries)) {
    const roundResults = await writer.write(
      round.map(({ change }) => change),
      mode,
    )
    for (const [n, { position }] of round.entries()) {
      const result = roundResults[n]
      if (result === undefined) throw new Error('the writer returned no result for a change')
      results[position] = result
    }
  }
  return results
}

interface PositionedChange {
  change: Change
  /** The index among all entries. */
  position: number
}

/** The first change of every order, then the second of those that have one, and so on. */
function inRounds(entries: readonly (Change | ValidationError)[]): PositionedChange[][] {
  const rounds: PositionedChange[][] = []
  const seen = new Map<string, number>()
  for (const [position, change] of entries.entries()) {
    if (isValidationError(change)) continue
    const round = seen.get(change.orderId) ?? 0
    seen.set(change.orderId, round + 1)
    rounds[round] ??= []
    rounds[round].push({ change, position })
  }
  return rounds
}
