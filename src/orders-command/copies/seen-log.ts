import { createReadStream } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PRIVATE } from '../atomic-file.ts'

/** The ids that a walk over everything has seen, a line each, in a file a walk: it lasts over a crash. */
export interface SeenLog {
  /** Adds ids, and sees them onto the disk. */
  add(pass: number, ids: readonly string[]): Promise<void>
  /** `null` where that walk left no log. */
  read(pass: number): AsyncIterable<string> | null
  /** Removes those of other walks. */
  keepOnly(pass: number): Promise<void>
}

const PREFIX = 'seen-'

export async function openSeenLog(folder: string): Promise<SeenLog> {
  const known = new Set((await readdir(folder)).filter((name) => name.startsWith(PREFIX)))
  const nameOf = (pass: number) => `${PREFIX}${pass}`

  return {
    async add(pass, ids) {
      const file = await open(join(folder, nameOf(pass)), 'a', PRIVATE)
      known.add(nameOf(pass))
      try {
        // The break comes first: a line that was torn in a crash must not swallow the next one.
        await file.appendFile(`\n${ids.join('\n')}`)
        await file.sync()
      } finally {
        await file.close()
      }
    },

    read(pass) {
      return known.has(nameOf(pass)) ? linesOf(join(folder, nameOf(pass))) : null
    },

    async keepOnly(pass) {
      for (const name of known) {
        if (name === nameOf(pass)) continue
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
