import { parseArgs } from 'node:util'
import { readersOf } from '../usage.ts'

const USAGE = `usage: npm run -s soak -- [options]
  --minutes N      duration: 2 to 1440 (default 30)
  --warm-up N      minutes at the start that the slope excludes (default: a sixth of all)
  --rate N         requests a second: 1 to 500 (default 40)
The soak uses OPENSEARCH_URL and REDIS_URL where they are set, and starts its own services elsewhere.
`

export interface SoakOptions {
  minutes: number
  warmUpMinutes: number
  rate: number
}

const { parsed, readInteger } = readersOf(USAGE)

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
  return parsed(() => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        minutes: { type: 'string', default: '30' },
        'warm-up': { type: 'string' },
        rate: { type: 'string', default: '40' },
      },
    })
    return values
  })
}
