import type { Change, Refusal } from '../projection/change.ts'
import type { Fault } from './fault.ts'
import type { IndexInspection } from './index-inspection.ts'
import { expectedDocuments, judge, type Standing, standing } from './judge.ts'

/** What became of a change in the index, as far as that can be told. */
export type Judgement = { change: Change } & (
  | { standing: 'current' | 'behind'; faults: readonly Fault[] }
  | { standing: 'superseded' }
  | { standing: 'refused'; refusal: Refusal }
)

/** Looks at the heads of changes and at the documents that there have to be of them, as they are now. */
export async function judgeChanges(
  inspection: Pick<IndexInspection, 'heads' | 'documents'>,
  changes: readonly Change[],
): Promise<Judgement[]> {
  const heads = await inspection.heads([...new Set(changes.map(({ orderId }) => orderId))])
  const standings = new Map(
    changes.map((change) => [change, standing(change, heads.get(change.orderId))]),
  )
  const comparable = changes.filter((change) => isComparable(standings.get(change)))
  const documents = await inspection.documents(comparable.flatMap(expectedDocuments))
  const documentsOf = Map.groupBy(documents, ({ address }) => address.orderId)

  return [...standings].map(([change, stands]) => {
    if (typeof stands === 'object') return { change, standing: 'refused', refusal: stands }
    if (!isComparable(stands)) return { change, standing: stands }
    const { orderId } = change
    const faults = judge(change, heads.get(orderId), documentsOf.get(orderId) ?? [])
    return { change, standing: stands, faults }
  })
}

function isComparable(stands: Standing | undefined): stands is 'current' | 'behind' {
  return stands === 'current' || stands === 'behind'
}
