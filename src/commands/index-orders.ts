import type { Command } from 'commander'
import { load } from '../indexing/load.ts'
import { createWriter } from '../indexing/writer.ts'
import { wallClock } from '../lib/clock.ts'
import { printJson } from './output.ts'
import { createProgress, openInput } from './progress.ts'
import type { WithServices } from './with-services.ts'

/** `index init | load`. */
export function addIndex(index: Command, withServices: WithServices): void {
  index
    .command('init')
    .description('make the index; the first write does it too')
    .action(async () => withServices(async () => console.error('the index is there')))

  index
    .command('load')
    .description('write source orders, one JSON object a line')
    .argument('<file>', 'a file, or - for standard input')
    .option('--live', 'stamp first versions too, for an index that is being paged')
    .option('--json', 'print the summary as JSON')
    .action(async (file: string, { live, json }: { live?: boolean; json?: boolean }) =>
      withServices(async ({ orderIndex }) => {
        const startedAt = performance.now()
        const input = await openInput(file)
        const progress = createProgress(process.stderr, input)
        const counts = await load(input.chunks, {
          writer: createWriter(orderIndex, wallClock),
          mode: live ? 'live' : 'back-fill',
          onRefused: (line, { path, reason }) => {
            progress.say(`line ${line}: ${path === '' ? 'the line' : path}: ${reason}`)
          },
          onProgress: progress.update,
        }).finally(progress.end)

        const seconds = Math.round((performance.now() - startedAt) / 100) / 10
        const summary = { ...counts, seconds }
        if (json) printJson(summary)
        else console.log(sentence(summary))
        if (counts.refused > 0) process.exitCode = 1
      }),
    )
}

function sentence(summary: Record<string, number>): string {
  const parts = Object.entries(summary).map(
    ([name, count]) => `${name.replaceAll('_', ' ')}: ${count}`,
  )
  return parts.join(', ')
}
