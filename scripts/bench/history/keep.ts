import { drawChart } from '../chart/draw.ts'
import type { BenchOptions } from '../options.ts'
import type { PartReport } from '../part.ts'
import { entryOf, type HistoryEntry, type readCommit } from './entry.ts'
import { appendEntry, readHistory } from './file.ts'
import { renderTrends } from './report.ts'

interface Run {
  facts: HistoryEntry['facts']
  /** As it was when the run began. */
  commit: ReturnType<typeof readCommit>
  options: BenchOptions
  reports: Readonly<Record<string, PartReport>>
}

/** Tells how a run compares with those before it, and adds it to them where that was asked for. */
export function keepRun({ facts, commit, options, reports }: Run): string {
  const run = entryOf({ ...commit, facts, options, reports })
  const { entries, broken } = readHistory()
  const told = [renderTrends(run, entries), ...broken.map((line) => `! ${line}`)]
  if (!options.record) return told.join('\n')
  if (Object.values(reports).some(({ failures }) => failures.length > 0)) {
    return [...told, '! not recorded: not every answer was right'].join('\n')
  }
  appendEntry(run)
  drawChart([...entries, run])
  return [...told, 'recorded'].join('\n')
}
