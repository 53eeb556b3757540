import type { ResponseStats } from '../../test/harness/traffic/response-stats.ts'
import { LATE_MS } from './breaches.ts'
import { type Cell, GREEDY_BURST } from './cell.ts'
import type { Matrix } from './matrix.ts'

const STATUSES = [200, 400, 401, 403, 404, 429, 503]
const COLUMNS = [
  'fault',
  'asked',
  ...STATUSES.map(String),
  'p50 ms',
  'p99 ms',
  'max ms',
  'in service ms',
  'off contract',
  'wrong pages',
  'hung',
  'turned away',
  'alone',
  'left open',
  'right after ms',
]

/** The matrix as a page of Markdown; `madeOn` tells of the machine. */
export function renderMatrix(matrix: Matrix, madeOn: string): string {
  const { plan, cells, backAgain, connectionsLeft, openFiles } = matrix
  const lines = [
    row(COLUMNS),
    row(COLUMNS.map((_, at) => (at === 0 ? '---' : '---:'))),
    row(['none', ...answers(matrix.healthy, matrix.healthyLongestMs), '', '', '']),
    ...(['OpenSearch', 'Redis'] as const).flatMap((service) => [
      ...cells.filter((cell) => cell.service === service).map(cellRow),
      row([`${service}: back again`, ...answers(backAgain[service]), '', '', '']),
    ]),
  ]
  const seconds = (ms: number) => `${ms / 1000} s`
  return `# What the service answers while OpenSearch or Redis is in trouble

Written by \`npm run -s faults\`. ${madeOn}

${plan.rate} requests a second arrive at one process, whatever becomes of those before: listings with both sorts and
with filters, page by page, single orders, unknown and foreign ids, bad parameters and cursors, bad, unknown, revoked and
expired keys, of several accounts, one of which asks for more than its bucket has, and for ${GREEDY_BURST} at once when Redis gets into
trouble: no other account is ever told 429. Each fault lasts
${seconds(plan.faultMs)} and hits every connection to the service, through a proxy; then it is gone for at least
${seconds(plan.restMs)} (all of that is "back again"). \`REQUEST_DEADLINE_MS\` is ${plan.requestDeadlineMs}, \`SEARCH_DEADLINE_MS\` ${plan.searchDeadlineMs}.

${lines.join('\n')}

- **off contract**: an answer that \`openapi.json\` does not describe to the letter, one without the headers that it has to
  have, a status that the request cannot have here (a 5xx while Redis alone is in trouble, anything but 503 in place of what is right
  while OpenSearch is), and a connection that breaks.
- **wrong pages**: a 200 that is not, field by field, what was loaded: pages in order, without a gap and without a repetition,
  and nothing of another account. ${matrix.walked} listings were walked to their end.
- **in service ms**: the longest answer from the arrival of its request in the service, by its own log, from the start of the fault
  until all was right again. Its promise: never more than \`REQUEST_DEADLINE_MS\` and ${LATE_MS} ms, whatever a request needs: its key, the
  decisions on limits, up to three searches. The columns before it are what the caller saw, on a machine that also ran everything else.
- **hung**: no whole answer within ${seconds(matrix.latestMs)}.
- **turned away**: 503 at once, since the process had too much to do already, whatever the request was.
- **alone**: decisions on limits that the process made by itself, because Redis was not in time.
- **left open**: connections that had lost something and that the service still held when all was right again.
- **right after**: from the end of the fault to the last request sent that was not answered as in health; 0 where there is none.

When all was over and quiet, the service held ${connectionsLeft.OpenSearch} connections to OpenSearch and ${connectionsLeft.Redis} to Redis,
and ${openFiles[1]} files and sockets in all; before the first request it was ${openFiles[0]}.
`
}

function cellRow({
  service,
  fault,
  tally,
  alone,
  leftOpen,
  rightAfterMs,
  longestMs,
}: Cell): string {
  const right = rightAfterMs === undefined ? 'never' : rightAfterMs.toFixed(0)
  return row([
    `${service}: ${fault}`,
    ...answers(tally, longestMs),
    `${alone}`,
    `${leftOpen}`,
    right,
  ])
}

/** `longestMs` is part of a fault's row: what comes after it is counted there. */
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
    violations['turned away'],
  ].map(String)
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
