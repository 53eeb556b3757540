import type { ResponseStats } from '../../test/harness/traffic/response-stats.ts'
import { LATE_MS } from './breaches.ts'
import { type Cell, GREEDY_BURST } from './cell.ts'
import type { Matrix } from './matrix.ts'

const STATUSES = [200, 400, 401, 403, 404, 429, 503]
const COLUMNS = [
  'fault',
  'requests',
  ...STATUSES.map(String),
  'p50 ms',
  'p99 ms',
  'max ms',
  'in service ms',
  'off contract',
  'wrong pages',
  'hung',
  'shed',
  'alone',
  'left open',
  'recovery ms',
]

/** Renders the matrix as a page of Markdown; `madeOn` describes the machine. */
export function renderMatrix(matrix: Matrix, madeOn: string): string {
  const { plan, cells, backAgain, connectionsLeft, openFiles } = matrix
  const lines = [
    row(COLUMNS),
    row(COLUMNS.map((_, at) => (at === 0 ? '---' : '---:'))),
    row(['none', ...answers(matrix.healthy, matrix.healthyLongestMs), '', '', '']),
    ...(['OpenSearch', 'Redis'] as const).flatMap((service) => [
      ...cells.filter((cell) => cell.service === service).map(cellRow),
      row([`${service}: recovered`, ...answers(backAgain[service]), '', '', '']),
    ]),
  ]
  const seconds = (ms: number) => `${ms / 1000} s`
  return `# Responses of the service during faults of OpenSearch or Redis

Written by \`npm run -s faults\`. ${madeOn}

${plan.rate} requests a second arrive at one process, independent of earlier responses: listings with both sorts and
with filters, page by page, single orders, unknown and foreign ids, bad parameters and cursors, bad, unknown, revoked and
expired keys, of several accounts. One account exceeds its rate limit, and sends ${GREEDY_BURST} requests at once at the start of
a Redis fault: no other account ever receives 429. Each fault lasts
${seconds(plan.faultMs)} and affects every connection to the faulty service, through a proxy. The next fault follows after at least
${seconds(plan.restMs)} (counted as "recovered"). \`REQUEST_DEADLINE_MS\` is ${plan.requestDeadlineMs}, \`SEARCH_DEADLINE_MS\` ${plan.searchDeadlineMs}.

${lines.join('\n')}

- **off contract**: a response that violates \`openapi.json\`, lacks a required header, or has a status that is wrong for the request
  (a 5xx during a Redis fault; any other status than the right one or 503 during an OpenSearch fault); and a broken connection.
- **wrong pages**: a 200 that differs from the loaded orders: a field, the order, a gap, a repetition, or an order of another account.
  ${matrix.walked} listings were paged to their end.
- **in service ms**: the longest response time in the log of the service, from the start of the fault until all responses were
  healthy. The service promises at most \`REQUEST_DEADLINE_MS\` and ${LATE_MS} ms for all parts of a request: its key, the
  rate-limit decisions, up to three searches. The columns before it are the caller's view, on a machine that also ran everything else.
- **hung**: no complete response within ${seconds(matrix.latestMs)}.
- **shed**: an immediate 503, since the process was overloaded.
- **alone**: rate-limit decisions that the process made alone, since Redis did not respond in time.
- **left open**: damaged connections that the service still held when all responses were healthy.
- **recovery ms**: from the end of the fault to the last request without a healthy response; 0 where there is none.

After the last fault, without traffic, the service held ${connectionsLeft.OpenSearch} connections to OpenSearch and ${connectionsLeft.Redis} to Redis,
and ${openFiles[1]} files and sockets in total; before the first request it held ${openFiles[0]}.
`
}

function cellRow({
  service,
  fault,
  stats,
  alone,
  leftOpen,
  rightAfterMs,
  longestMs,
}: Cell): string {
  const right = rightAfterMs === undefined ? 'never' : rightAfterMs.toFixed(0)
  return row([
    `${service}: ${fault}`,
    ...answers(stats, longestMs),
    `${alone}`,
    `${leftOpen}`,
    right,
  ])
}

/** Only the row of a fault has `longestMs`, which includes its recovery. */
function answers(
  { total, statuses, violations, percentileMs }: ResponseStats,
  longestMs?: number,
): string[] {
  return [
    total,
    ...STATUSES.map((status) => statuses.get(status) ?? 0),
    ...[0.5, 0.99, 1].map((share) => percentileMs(share).toFixed(0)),
    longestMs?.toFixed(0) ?? '',
    violations['off contract'],
    violations['wrong page'],
    violations.hung,
    violations.shed,
  ].map(String)
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
