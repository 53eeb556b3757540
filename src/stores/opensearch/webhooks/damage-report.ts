/** Receives the reason why a document is skipped, once for each document. */
export type OnDamaged = (reason: string) => void

/** Reports a document that is skipped because it cannot be read. */
export type ReportDamaged = (index: string, id: string) => void

/** More would be a fault of the whole index, and the first reports name it. */
const MAX_REPORTS = 1_000

export interface DamageReport {
  report: ReportDamaged
  /** Also passes on what was found before. */
  subscribe(listener: OnDamaged): void
}

/** Creates a report that names each document once per process. */
export function createDamageReport(): DamageReport {
  const reported = new Set<string>()
  const unheard: string[] = []
  let listener: OnDamaged = (reason) => unheard.push(reason)
  return {
    report(index, id) {
      const name = `${index}/${id}`
      if (reported.has(name) || reported.size >= MAX_REPORTS) return
      reported.add(name)
      listener(
        `the document ${id} of the index ${index} is damaged and is skipped: restore it from a snapshot or delete it`,
      )
    },
    subscribe(newListener) {
      listener = newListener
      for (const reason of unheard.splice(0)) listener(reason)
    },
  }
}
