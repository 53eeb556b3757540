import type { Command } from 'commander'
import { type LoadSummary, load } from '../../indexing/sources/load.ts'
import type { WriteMode } from '../../indexing/writing/decide.ts'
import { createWriter } from '../../indexing/writing/writer.ts'
import { wallClock } from '../../lib/clock.ts'
import type { Stores } from '../../stores/stores.ts'
import { printJson } from '../output.ts'
import { onFirstSignal } from '../signals.ts'
import type { WithServices } from '../with-services.ts'
import { type LoadInput, openInput } from './load-input.ts'
import { createProgress } from './progress.ts'

/** `index load`. */
export function addLoad(index: Command, withServices: WithServices): void {
  index
    .command('load')
    .description('write source orders, one JSON object a line')
    .argument('<file>', 'a file, or - for standard input')
    .option('--live', 'stamp updated_at of new orders too; use it once clients page')
    .option('--json', 'print the summary as JSON')
    .action(async (file: string, { live, json }: { live?: boolean; json?: boolean }) =>
      withServices(async ({ openIndex }) => {
        const interruption = new AbortController()
        onFirstSignal(() => interruption.abort())
        const input = await openInput(file, interruption.signal)
        const mode = live ? 'live' : 'back-fill'
        const summary = await loadAndReport(openIndex, input, mode, interruption.signal)
        if (json) printJson(summary)
        else console.log(sentence(summary))
        if (summary.refused > 0) process.exitCode = 1
      }),
    )
}

type TimedSummary = LoadSummary & { seconds: number }

/** Loads with progress and refusals on stderr; when it fails, says how far it came. */
async function loadAndReport(
  openIndex: Stores['openIndex'],
  input: LoadInput,
  mode: WriteMode,
  signal: AbortSignal,
): Promise<TimedSummary> {
  const startedAt = performance.now()
  const progress = createProgress(process.stderr, input)
  const index = await openIndex({ onDelay: progress.say, signal })
  let reached = 0
  try {
    const counts = await load(input.chunks, {
      writer: createWriter(index, wallClock),
      mode,
      onRefused: (line, { path, reason }) => {
        progress.say([`line ${line}`, path, reason].filter(Boolean).join(': '))
      },
      onProgress: (summary, lineNumber) => {
        reached = lineNumber
        progress.update(summary)
      },
    })
    return { ...counts, seconds: Math.round((performance.now() - startedAt) / 100) / 10 }
  } catch (error) {
    if (reached > 0)
      progress.say(`stopped; lines up to ${reached} are in: load the same again to go on`)
    throw error
  } finally {
    progress.end()
    await index.close()
  }
}

function sentence(summary: TimedSummary): string {
  const parts = Object.entries(summary).map(
    ([name, count]) => `${name.replaceAll('_', ' ')}: ${count}`,
  )
  return parts.join(', ')
}
