import { open } from 'node:fs/promises'

/** Response times in the request log of the service, which exclude delays of a busy generator. */
export interface ResponseTimes {
  /** The longest response since the last call, in milliseconds; 0 where there is none. */
  longestMs(): Promise<number>
}

const DURATION = /"duration_ms":(\d+(?:\.\d+)?)/g

/** Reads a log that another process writes, from its current end. */
export async function followResponseTimes(logFile: string): Promise<ResponseTimes> {
  let readTo = 0
  let half = ''

  async function readNew(): Promise<string> {
    await using file = await open(logFile)
    const { size } = await file.stat()
    const bytes = Buffer.alloc(size - readTo)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, readTo)
    readTo += bytesRead
    const text = half + bytes.toString('latin1', 0, bytesRead)
    const end = text.lastIndexOf('\n') + 1
    half = text.slice(end)
    return text.slice(0, end)
  }

  await readNew()
  return {
    async longestMs() {
      const durations = [...(await readNew()).matchAll(DURATION)].map(([, ms]) => Number(ms))
      return durations.reduce((longest, ms) => Math.max(longest, ms), 0)
    },
  }
}
