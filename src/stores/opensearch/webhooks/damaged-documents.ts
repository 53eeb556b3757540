/** Receives the reason why a document is skipped, once for each document. */
export type OnDamaged = (reason: string) => void

/** Reports a document that is skipped because it cannot be read. */
export type ReportDamaged = (index: string, id: string) => void

/** More would be a fault of the whole index, and the first reports name it. */
const MAX_REPORTS = 1_000

/** Creates a report that names each document once per process. */
export function createDamageReport(onDamaged: OnDamaged): ReportDamaged {
  const reported = new Set<string>()
  return (index, id) => {
    const name = `${index}/${id}`
    if (reported.has(name) || reported.size >= MAX_REPORTS) return
    reported.add(name)
    onDamaged(
      `the document ${id} of the index ${index} is damaged and is skipped: restore it from a snapshot or delete it`,
    )
  }
}
