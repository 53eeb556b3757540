import { type Change, isRefusal, type Refusal } from '../projection/change.ts'
import type { Verdict, WriteMode } from '../writing/decide.ts'
import type { Writer } from '../writing/writer.ts'

/**
 * Writes a batch in which orders may come several times, in the order of each order's changes, and tells
 * what became of each entry. A bulk has one verdict an order: the second changes go into a second bulk.
 */
export async function writeAll(
  writer: Writer,
  entries: readonly (Change | Refusal)[],
  mode: WriteMode,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = entries.map((entry) => (isRefusal(entry) ? entry : 'unchanged'))
  for (const round of inRounds(entries)) {
    const told = await writer.write(
      round.map(({ change }) => change),
      mode,
    )
    for (const [n, { at }] of round.entries()) {
      const verdict = told[n]
      if (verdict === undefined) throw new Error('the writer told no verdict of a change')
      verdicts[at] = verdict
    }
  }
  return verdicts
}

interface Placed {
  change: Change
  /** Where it is among all entries. */
  at: number
}

/** The first change of every order, then the second of those that have one, and so on. */
function inRounds(entries: readonly (Change | Refusal)[]): Placed[][] {
  const rounds: Placed[][] = []
  const seen = new Map<string, number>()
  for (const [at, change] of entries.entries()) {
    if (isRefusal(change)) continue
    const round = seen.get(change.orderId) ?? 0
    seen.set(change.orderId, round + 1)
    rounds[round] ??= []
    rounds[round].push({ change, at })
  }
  return rounds
}
