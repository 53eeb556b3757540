import { parseArgs } from 'node:util'

const USAGE = `usage: npm run -s soak -- [options]
  --minutes N      how long: 2 to 1440 (default 30)
  --warm-up N      minutes at the beginning that the slope leaves out (default a sixth of all)
  --rate N         requests a second: 1 to 500 (default 40)
OPENSEARCH_URL and REDIS_URL are used where they are set; else both are started and stopped.
`

export interface SoakOptions {
  minutes: number
  warmUpMinutes: number
  rate: number
}

/** Tells what is wrong with the arguments, and how they are used. */
export class UsageError extends Error {
  constructor(problem: string) {
    super(`${problem}\n${USAGE}`)
    this.name = 'UsageError'
  }
}

/** @throws UsageError */
export function readOptions(args: readonly string[]): SoakOptions {
  const values = parseOrExplain(args)
  const minutes = readInteger('--minutes', values.minutes, 2, 1_440)
  const warmUp = values['warm-up'] ?? `${Math.floor(minutes / 6)}`
  return {
    minutes,
    warmUpMinutes: readInteger('--warm-up', warmUp, 0, minutes - 2),
    rate: readInteger('--rate', values.rate, 1, 500),
  }
}

function parseOrExplain(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        minutes: { type: 'string', default: '30' },
        'warm-up': { type: 'string' },
        rate: { type: 'string', default: '40' },
      },
    })
    return values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause))
  }
}

function readInteger(name: string, text: string, from: number, to: number): number {
  const number = Number(text)
  if (/^\d{1,9}$/.test(text) && number >= from && number <= to) return number
  throw new UsageError(`${name} must be an integer from ${from} to ${to}, not "${text}"`)
}
