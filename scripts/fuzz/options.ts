import { parseArgs } from 'node:util'

const USAGE = `usage: npm run -s fuzz -- [options]
  --seconds N   stop after so long: 10 to 3600 (default: all cases, at least 10,000)
  --seed N      the seed of an earlier run, to have its cases again (default: another one each time)
`
const MAX_SEED = 2 ** 31

export interface FuzzOptions {
  /** `undefined`: in full. */
  seconds: number | undefined
  seed: number
}

/** Tells what is wrong with the arguments, and how they are used. */
export class UsageError extends Error {
  constructor(problem: string) {
    super(`${problem}\n${USAGE}`)
    this.name = 'UsageError'
  }
}

/** @throws UsageError */
export function readOptions(args: readonly string[], newSeed: () => number): FuzzOptions {
  const { seconds, seed } = parseOrExplain(args)
  return {
    seconds: seconds === undefined ? undefined : readInteger('--seconds', seconds, 10, 3_600),
    seed: seed === undefined ? newSeed() : readInteger('--seed', seed, 0, MAX_SEED),
  }
}

function parseOrExplain(args: readonly string[]) {
  try {
    const options = { seconds: { type: 'string' }, seed: { type: 'string' } } as const
    return parseArgs({ args: [...args], options }).values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause))
  }
}

function readInteger(name: string, text: string, from: number, to: number): number {
  const number = Number(text)
  if (!/^\d{1,10}$/.test(text) || number < from || number > to) {
    throw new UsageError(`${name} must be an integer from ${from} to ${to}, not "${text}"`)
  }
  return number
}
