import type { ResponseStats } from '../../test/harness/traffic/response-stats.ts'
import type { Matrix } from './matrix.ts'

/** An idle process keeps one connection to Redis, and none to OpenSearch. */
const MOST_LEFT = { OpenSearch: 0, Redis: 1 }

/** Allowed beyond the deadline of a request: a Redis decision, rendering, a busy machine. */
export const LATE_MS = 500

/** The promises that the service broke, a line each. */
export function breachesOf(matrix: Matrix): string[] {
  const { healthy, cells, backAgain, connectionsLeft, walked } = matrix
  const allStats: [name: string, ResponseStats][] = [
    ['no fault', healthy],
    ...cells.map(({ service, fault, stats }): [string, ResponseStats] => [
      `${service} ${fault}`,
      stats,
    ]),
    ['after OpenSearch', backAgain.OpenSearch],
    ['after Redis', backAgain.Redis],
  ]
  const breaches = allStats.flatMap(([name, { reported }]) =>
    reported.map((what) => `${name}: ${what}`),
  )
  breaches.push(...lateIn('no fault', matrix.healthyLongestMs, matrix))
  for (const { service, fault, stats, rightAfterMs, leftOpen, longestMs } of cells) {
    if (rightAfterMs === undefined)
      breaches.push(`${service} ${fault}: no healthy responses before the timeout`)
    breaches.push(...lateIn(`${service} ${fault}`, longestMs, matrix))
    if (service === 'Redis' && stats.limited === 0) {
      breaches.push(`${service} ${fault}: no response was rate-limited`)
    }
    if (leftOpen > 0)
      breaches.push(`${service} ${fault}: ${leftOpen} dead connections are still open`)
  }
  for (const service of ['OpenSearch', 'Redis'] as const) {
    const left = connectionsLeft[service]
    if (left > MOST_LEFT[service]) breaches.push(`${left} connections to ${service} are still open`)
  }
  const turnedAway = allStats.reduce((sum, [, { violations }]) => sum + violations.shed, 0)
  if (!(turnedAway <= matrix.turnedAway)) {
    breaches.push(`${turnedAway} requests were shed, but the service counted ${matrix.turnedAway}`)
  }
  if (walked === 0) breaches.push('no listing was paged to its end')
  return breaches
}

function lateIn(name: string, longestMs: number, { plan }: Matrix): string[] {
  if (longestMs === 0) return [`${name}: the service logged no response`]
  if (longestMs <= plan.requestDeadlineMs + LATE_MS) return []
  return [`${name}: a response took ${longestMs.toFixed(0)} ms of ${plan.requestDeadlineMs}`]
}
