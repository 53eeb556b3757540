import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { LoadSummary } from '../../../src/indexing/sources/load.ts'
import type { Scratch } from '../../../test/harness/processes/scratch.ts'
import { MAIN, type Settings } from '../../../test/harness/processes/service.ts'
import { runIndexCommand } from './command.ts'

export interface LoadCommand {
  mode?: '--history' | '--live'
  /** The program of another checkout. */
  program?: string
}

/**
 * Runs `index load` on a file, in a separate process with these settings only. Returns its summary,
 * its CPU time and its memory.
 */
export async function runLoad(
  scratch: Scratch,
  file: string,
  settings: Settings,
  { mode = '--history', program = MAIN }: LoadCommand = {},
) {
  const args = ['load', file, mode, '--json']
  const { log, ...figures } = await runIndexCommand(scratch, { program, args, settings })
  const at = log.lastIndexOf('{') // The summary is last in the log.
  const summary: LoadSummary & { seconds: number } = JSON.parse(log.slice(at))
  return { ...figures, ...summary }
}

export async function writeLines(file: string, lines: Iterable<string>) {
  const terminated = Iterator.from(lines).map((line) => `${line}\n`)
  await pipeline(Readable.from(terminated), createWriteStream(file))
}
