import { parseArgs } from 'node:util'
import { readersOf } from '../usage.ts'

const USAGE = `usage: npm run -s fuzz -- [options]
  --seconds N   time limit: 30 to 3600 (at least 500 cases; default: none, at least 10,000 cases)
  --seed N      the seed of an earlier run, to repeat its cases (default: random)
`
const MAX_SEED = 2 ** 31

export interface FuzzOptions {
  /** `undefined`: no limit. */
  seconds: number | undefined
  seed: number
}

const { parsed, readInteger } = readersOf(USAGE)

/** @throws UsageError */
export function readOptions(args: readonly string[], newSeed: () => number): FuzzOptions {
  const { seconds, seed } = parseOrExplain(args)
  return {
    seconds: seconds === undefined ? undefined : readInteger('--seconds', seconds, 30, 3_600),
    seed: seed === undefined ? newSeed() : readInteger('--seed', seed, 0, MAX_SEED),
  }
}

function parseOrExplain(args: readonly string[]) {
  return parsed(() => {
    const options = { seconds: { type: 'string' }, seed: { type: 'string' } } as const
    return parseArgs({ args: [...args], options }).values
  })
}
