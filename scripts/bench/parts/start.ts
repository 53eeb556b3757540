import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Services } from '../../../src/services.ts'
import { findFreePort } from '../../../test/harness/processes/ports.ts'
import { openScratch, type Scratch } from '../../../test/harness/processes/scratch.ts'
import type { BenchContext } from '../context.ts'
import { createClosedLoop } from '../measuring/closed-loop.ts'
import { median, medianRatio } from '../measuring/figures.ts'
import { race } from '../measuring/race.ts'
import {
  baselineFile,
  commandLine,
  MAIN,
  type ProgramOptions,
  type Settings,
  startApi,
} from '../measuring/service.ts'
import { checkedRequests, issueKeys, servicePages } from '../orders/pages.ts'
import { fillEmbedded, openEmbedded } from '../orders/stores.ts'
import type { Part } from '../part.ts'
import { formatFigure, formatRatio, renderTable } from '../reporting/table.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const BUILT = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))
const CASE = 'small created 20'
/** A start is short, and start times vary. */
const STARTS_PER_ROUND = 5
/** A service has written its compile cache by then. */
const CACHED_MS = 3_000
const TIMEOUT_MS = 30_000
/** Between two attempts to connect: the figure is as exact as this. */
const RETRY_MS = 1
const LABELS: Readonly<Record<string, string>> = {
  bare: 'a bare route of Fastify',
  source: 'serve, node src/main.ts (types are stripped)',
  built: 'serve, node dist/main.js (npm run build)',
}

/** Milliseconds from the start of each program's process to its first right answer, one each start. */
type Starts = Readonly<Record<string, readonly number[]>>

/** The time to the first answer on an embedded store with orders, against a bare route. */
export const startPart: Part = {
  name: 'start',
  about: 'from the start of the process to the first answer, against a bare Fastify',
  async measure(context, scope) {
    const { orders, options, signal, log } = context
    const built = await build(log)
    const { settings, services } = await openEmbedded(context.settings, scope)
    await fillEmbedded(services, context)
    const scratch = await openScratch('bench-start')
    scope.defer(scratch.close)
    const page = await preparePage(context, settings, services)
    // A separate compile cache excludes earlier runs.
    const own = { OPERATIONS_PORT: '0', NODE_COMPILE_CACHE: join(scratch.path, 'compiled') }
    const serve = { args: ['serve'], settings: { ...settings, ...own } }
    const answers = join(scratch.path, 'answers.json')
    await writeFile(answers, JSON.stringify([bareAnswer(page)]))
    const programs: [string, ProgramOptions][] = [
      ['bare', { program: baselineFile('bare.mjs'), args: [answers] }],
      ['source', { program: MAIN, ...serve }],
      ...(built
        ? [['built', { program: BUILT, ...serve }] satisfies [string, ProgramOptions]]
        : []),
    ]
    for (const [name, program] of programs) {
      const ms = await timeFirstAnswer(scratch, program, page, signal, CACHED_MS)
      log(`the first start of ${name}: ${Math.round(ms)} ms; the next use its compile cache`)
    }
    const contenders = programs.map(([name, program]) => {
      return { name, measure: () => timeFirstAnswer(scratch, program, page, signal) }
    })
    const rounds = STARTS_PER_ROUND * options.rounds
    const describe = (ms: number) => `${Math.round(ms)} ms`
    const started = [{ name: 'start', contenders }]
    const [result] = await race(started, { rounds, signal, log }, describe)
    return reportStart(orders.count, result?.samples ?? {})
  },
}

export function reportStart(orders: number, samples: Starts) {
  const programs = Object.entries(samples).map(([program, ms]) => ({
    program,
    ms: median(ms),
    fastestMs: Math.min(...ms),
    perBare: medianRatio(ms, samples['bare'] ?? []),
  }))
  const rows = programs.map(({ program, ms, fastestMs, perBare }) => {
    return [
      LABELS[program] ?? program,
      formatFigure(ms),
      formatFigure(fastestMs),
      formatRatio(perBare),
    ]
  })
  const title = `From the start of the process to the first right answer; the embedded store with ${orders} orders`
  const table = renderTable(['program', 'ms', 'fastest ms', '÷ bare'], rows)
  const costs = programs
    .filter(({ program }) => program !== 'bare')
    .map(({ program, perBare }) => [`start÷bare ${program}`, perBare])
  return {
    tables: [[title, '', table].join('\n')],
    figures: { orders, programs, samples },
    costs: Object.fromEntries(costs),
    failures: [],
  }
}

/** Runs `npm run build`, and returns whether it succeeded. */
async function build(log: BenchContext['log']): Promise<boolean> {
  log('compiling …')
  try {
    await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT })
    return true
  } catch (error) {
    log(`the build failed, so only the source is measured: ${error}`)
    return false
  }
}

interface Page {
  path: string
  headers: Record<string, string>
  body: Buffer
}

/** A page whose orders were compared with the generated ones. */
async function preparePage(
  context: BenchContext,
  settings: Settings,
  services: Services,
): Promise<Page> {
  const found = context.cases.find(({ name }) => name === CASE)
  if (!found) throw new Error(`there is no case ${CASE}`)
  const of = { ...found, places: found.places.slice(0, 1) }
  const keys = await issueKeys([of], services)
  await using server = await startApi(settings)
  await using loop = createClosedLoop({ origins: [server.origin] }, 1)
  const source = servicePages(context, { name: 'api', loop, keys })
  const [request] = await checkedRequests(context, source, of)
  if (!request) throw new Error(`there is no page of ${CASE}`)
  return { ...request, body: await loop.fetch(request) }
}

function bareAnswer({ path, body }: Page) {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { path: path.replace(/\?.*/, ''), status: 200, headers, body: `${body}` }
}

/**
 * Starts a program in a separate process and returns the milliseconds until its first right answer on
 * the port in `PORT`. Kills it `lingerMs` later.
 */
async function timeFirstAnswer(
  scratch: Scratch,
  { settings, ...program }: ProgramOptions,
  page: Page,
  signal: AbortSignal,
  lingerMs = 0,
): Promise<number> {
  const port = await findFreePort(() => true)
  const own = { ...settings, PORT: `${port}` }
  const [command, ...args] = await commandLine(`${scratch.path}/start.env`, {
    ...program,
    settings: own,
  })
  const startedAt = performance.now()
  const started = await scratch.start('started', command, args)
  try {
    for (;;) {
      signal.throwIfAborted()
      const isRight = await answersRight(port, page)
      const ms = performance.now() - startedAt
      if (isRight) {
        await sleep(lingerMs)
        return ms
      }
      if (started.hasEnded() || ms > TIMEOUT_MS) {
        throw new Error(`no right answer after ${ms} ms:\n${await started.logTail()}`)
      }
      await sleep(RETRY_MS)
    }
  } finally {
    await started.kill()
  }
}

/** Whether the port returns the page. A connection fails until the program listens. */
async function answersRight(port: number, { path, headers, body }: Page): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(
    () => undefined,
  )
  const bytes = await response?.bytes().catch(() => undefined)
  return response?.status === 200 && bytes !== undefined && body.equals(bytes)
}
