import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../../../test/harness/processes/ports.ts'
import type { Scratch } from '../../../test/harness/processes/scratch.ts'
import { commandLine, type ProgramOptions } from '../measuring/running-service.ts'

/** What is asked, and what is right. */
export interface Question {
  path: string
  headers: Record<string, string>
  isRight(status: number, body: Buffer): boolean
}

const PATIENCE_MS = 30_000
/** How long after one refused connection the next is tried: the figure is as exact as this. */
const PAUSE_MS = 1

/**
 * Milliseconds from the start of a program in a process of its own until it has given its first right
 * answer, on the port that `PORT` tells it. Ends it again, `lingerMs` later.
 */
export async function timeFirstAnswer(
  scratch: Scratch,
  { settings, ...program }: ProgramOptions,
  question: Question,
  signal: AbortSignal,
  lingerMs = 0,
): Promise<number> {
  const port = await findFreePort(() => true)
  const file = `${scratch.path}/start.env`
  const own = { ...settings, PORT: `${port}` }
  const [command, ...args] = await commandLine(file, { ...program, settings: own })
  const startedAt = performance.now()
  const started = await scratch.start('started', command, args)
  try {
    for (;;) {
      signal.throwIfAborted()
      const isRight = await ask(port, question)
      const ms = performance.now() - startedAt
      if (isRight) {
        await sleep(lingerMs)
        return ms
      }
      if (started.hasEnded() || ms > PATIENCE_MS) {
        throw new Error(`no right answer after ${ms} ms:\n${await started.logTail()}`)
      }
      await sleep(PAUSE_MS)
    }
  } finally {
    await started.kill()
  }
}

/** Whether there is a right answer: nobody may be listening yet. */
function ask(port: number, { path, headers, isRight }: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(isRight(response.statusCode ?? 0, Buffer.concat(chunks))))
      response.on('error', () => resolve(false))
    })
    request.on('error', () => resolve(false))
  })
}
