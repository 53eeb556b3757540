import type { ResponseStats } from '../../test/harness/traffic/response-stats.ts'
import type { Matrix } from './matrix.ts'

/** A process that only reads keeps one connection to Redis, and none to OpenSearch once nobody asks. */
const MOST_LEFT = { OpenSearch: 0, Redis: 1 }

/** What an answer may take beyond the deadline of its request: a decision of Redis, rendering, a busy machine. */
export const LATE_MS = 500

/** What the service promises under every fault and did not keep, a line each. */
export function breachesOf(matrix: Matrix): string[] {
  const { healthy, cells, backAgain, connectionsLeft, walked } = matrix
  const tallies: [name: string, ResponseStats][] = [
    ['no fault', healthy],
    ...cells.map(({ service, fault, tally }): [string, ResponseStats] => [
      `${service} ${fault}`,
      tally,
    ]),
    ['after OpenSearch', backAgain.OpenSearch],
    ['after Redis', backAgain.Redis],
  ]
  const breaches = tallies.flatMap(([name, { reported }]) =>
    reported.map((what) => `${name}: ${what}`),
  )
  breaches.push(...lateIn('no fault', matrix.healthyLongestMs, matrix))
  for (const { service, fault, tally, rightAfterMs, leftOpen, longestMs } of cells) {
    if (rightAfterMs === undefined) breaches.push(`${service} ${fault}: not right again`)
    breaches.push(...lateIn(`${service} ${fault}`, longestMs, matrix))
    if (service === 'Redis' && tally.limited === 0) {
      breaches.push(`${service} ${fault}: who asked too much was not told so`)
    }
    if (leftOpen > 0) breaches.push(`${service} ${fault}: ${leftOpen} dead connections are held`)
  }
  for (const service of ['OpenSearch', 'Redis'] as const) {
    const left = connectionsLeft[service]
    if (left > MOST_LEFT[service]) breaches.push(`${left} connections to ${service} are left`)
  }
  const turnedAway = tallies.reduce((sum, [, { violations }]) => sum + violations['turned away'], 0)
  if (!(turnedAway <= matrix.turnedAway)) {
    breaches.push(`${turnedAway} were turned away, and the service tells of ${matrix.turnedAway}`)
  }
  if (walked === 0) breaches.push('no listing was walked to its end')
  return breaches
}

function lateIn(name: string, longestMs: number, { plan }: Matrix): string[] {
  if (longestMs === 0) return [`${name}: the service logged no answer`]
  if (longestMs <= plan.requestDeadlineMs + LATE_MS) return []
  return [`${name}: an answer took ${longestMs.toFixed(0)} ms of ${plan.requestDeadlineMs}`]
}
