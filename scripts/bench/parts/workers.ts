import { readdir, readFile } from 'node:fs/promises'
import { sum } from '../measuring/figures.ts'
import { raceLoops } from '../measuring/race.ts'
import type { RunningService } from '../measuring/service.ts'
import { issueKeys, pageScenarios } from '../orders/pages.ts'
import { fillServiceIndex } from '../orders/stores.ts'
import type { Part } from '../part.ts'
import { figure, figureColumn, ratioColumn, reportSections } from '../reporting/comparison.ts'
import { formatRatio } from '../reporting/table.ts'
import { openService } from './api.ts'

const ONE = 'workers 1'
const TWO = 'workers 2'
const CASES = ['small created 20', 'large created 20', 'large created 100']
/** Linux counts in hundredths of a second, and the two readings are not simultaneous. */
const TOLERANCE = 0.05
/** The unit of CPU time in `/proc`. */
const TICK_MICROS = 10_000

const rate = { key: 'ratePerOne', of: TWO, per: ONE, figure: figure.perSecond }
const cpu = { ...rate, key: 'cpuPerOne', figure: figure.apiCpu, isCost: true }
export const workersSection = {
  title: 'One worker and two',
  heading: 'case',
  tables: [
    [
      figureColumn('1/s', [ONE], figure.perSecond),
      figureColumn('2/s', [TWO], figure.perSecond),
      ratioColumn('2÷1', rate),
      figureColumn('µs 1', [ONE], figure.apiCpu),
      figureColumn('µs 2', [TWO], figure.apiCpu),
      ratioColumn('µs 2÷1', cpu),
      figureColumn('p50 ms', [ONE, TWO], figure.p50),
      figureColumn('MB', [ONE, TWO], figure.megabytes),
    ],
  ],
  ratios: [rate, { ...cpu, recordedAs: 'µs 2÷1 workers' }],
}
const LEGEND =
  '1, 2: WORKERS; µs: CPU time of a request in all processes of the service, with the primary; p50, MB: 1/2'

/** The same requests to one worker and to two, on the same stores. */
export const workersPart: Part = {
  name: 'workers',
  about: 'the cost of a request with two workers, against one',
  async measure(context, scope) {
    const cases = context.cases.filter(({ name }) => CASES.includes(name))
    const { services } = await fillServiceIndex(context, scope)
    const keys = await issueKeys(cases, services)
    const open = (name: string, count: string) => {
      const settings = { ...context.settings, WORKERS: count }
      return openService(context, { name, settings, keys }, scope)
    }
    const sources = [await open(ONE, '1'), await open(TWO, '2')]
    const scenarios = await pageScenarios(context, cases, sources)
    const readAll = () => Promise.all(sources.map(({ server }) => readCpu(server)))
    const before = await readAll()
    const results = await raceLoops(scenarios, context)
    const after = await readAll()
    const shares = sources.map(({ name }, at): [string, number] => {
      const grown = (by: 'metrics' | 'kernel') => (after[at]?.[by] ?? 0) - (before[at]?.[by] ?? 0)
      return [name, grown('metrics') / grown('kernel')]
    })
    const texts = shares.map(([name, share]) => `${name} ${formatRatio(share)}`)
    const legend = [LEGEND, `CPU time by /metrics ÷ by /proc, over all: ${texts.join(', ')}`]
    const extra = { reported: Object.fromEntries(shares) }
    const report = reportSections([{ ...workersSection, results, legend, extra }])
    return { ...report, failures: [...report.failures, ...misreported(extra.reported)] }
  },
}

/** CPU time by the metrics of the service, as a share of that by the kernel. */
type Reported = Readonly<Record<string, number>>

/** Metrics that miss CPU time, which voids the figures. */
export function misreported(reported: Reported): string[] {
  return Object.entries(reported).flatMap(([name, share]) =>
    Math.abs(share - 1) > TOLERANCE
      ? [`! ${name}: /metrics has ${formatRatio(share)} of the CPU time of its processes`]
      : [],
  )
}

async function readCpu({ cpuMicros, pid }: RunningService) {
  const [metrics, kernel] = await Promise.all([cpuMicros(), readTreeMicros(pid)])
  return { metrics, kernel }
}

interface ProcessTimes {
  pid: number
  parent: number
  cpuMicros: number
}

/** Parses a line of `/proc/<pid>/stat`, in which the name may have spaces and parentheses. */
export function readStat(line: string): ProcessTimes {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const [, parent, , , , , , , , , , user, system] = fields
  const cpuMicros = TICK_MICROS * (Number(user) + Number(system))
  return { pid: Number.parseInt(line, 10), parent: Number(parent), cpuMicros }
}

/** CPU time of a process and all of its running descendants. */
export function treeMicros(processes: readonly ProcessTimes[], root: number): number {
  const own = processes.find(({ pid }) => pid === root)?.cpuMicros ?? 0
  const children = processes.filter(({ parent }) => parent === root)
  return own + sum(children.map(({ pid }) => treeMicros(processes, pid)))
}

/** The same of a running process; NaN on systems without `/proc`. */
async function readTreeMicros(root: number): Promise<number> {
  const files = await readdir('/proc').catch(() => undefined)
  if (files === undefined) return Number.NaN
  const pids = files.filter((name) => /^\d+$/.test(name))
  const lines = await Promise.allSettled(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8')))
  // A process may have ended meanwhile.
  const found = lines.flatMap((line) => (line.status === 'fulfilled' ? [line.value] : []))
  return treeMicros(found.map(readStat), root)
}
