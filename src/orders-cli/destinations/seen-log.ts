import { createReadStream } from 'node:fs'
import { constants, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openNoFollow } from '../atomic-file.ts'

/** The ids that a full sync has seen: one file per run, one id per line; it survives a crash. */
export interface SeenLog {
  /** Appends ids and syncs them to disk. @throws CommandError if the log is a link */
  add(run: number, ids: readonly string[]): Promise<void>
  /** `null` if the run has no log. */
  read(run: number): AsyncIterable<string> | null
  /** Removes the logs of other runs. */
  keepOnly(run: number): Promise<void>
}

const PREFIX = 'seen-'
const { O_APPEND, O_CREAT, O_WRONLY } = constants

/** Opens the logs in `folder`, which must exist. @throws system errors */
export async function openSeenLog(folder: string): Promise<SeenLog> {
  const known = new Set((await readdir(folder)).filter((name) => name.startsWith(PREFIX)))
  const nameOf = (run: number) => `${PREFIX}${run}`

  return {
    async add(run, ids) {
      const file = await openNoFollow(join(folder, nameOf(run)), O_APPEND | O_CREAT | O_WRONLY)
      known.add(nameOf(run))
      try {
        // A leading line break keeps a line torn by a crash from merging with the next.
        await file.appendFile(`\n${ids.join('\n')}`)
        await file.sync()
      } finally {
        await file.close()
      }
    },

    read(run) {
      return known.has(nameOf(run)) ? linesOf(join(folder, nameOf(run))) : null
    },

    async keepOnly(run) {
      for (const name of known) {
        if (name === nameOf(run)) continue
        await rm(join(folder, name), { force: true })
        known.delete(name)
      }
    },
  }
}

async function* linesOf(path: string): AsyncGenerator<string> {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (line !== '') yield line
  }
}
