import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { poll } from '../../../test/harness/processes/poll.ts'
import { findFreePort } from '../../../test/harness/processes/ports.ts'
import { openScratch, type Scratch } from '../../../test/harness/processes/scratch.ts'
import { commandLine, MAIN, type ProgramOptions } from '../../../test/harness/processes/service.ts'
import { type BenchContext, baselineFile, type Part } from '../context.ts'
import { builtProgram } from '../measuring/built-program.ts'
import type { LoadRequest } from '../measuring/load.ts'
import { race } from '../measuring/race.ts'
import { accountsOf } from '../orders/cases.ts'
import { accessTo, checkedRequests, openService } from '../orders/pages.ts'
import { fillEmbedded, openEmbedded } from '../orders/stores.ts'

const CASE = 'small created 20'
/** A start is short, and start times vary. */
const STARTS_PER_ROUND = 5
/** A service has written its compile cache by then. */
const CACHED_MS = 3_000
const TIMEOUT_MS = 30_000
/** Between two attempts to connect: the figure is as exact as this. */
const RETRY_MS = 1
const LEGEND = `bare: a bare route of Fastify; source: serve, node src/main.ts (types are stripped)
built: serve, node dist/main.js (npm run build)`

/** The time to the first response on an embedded store with orders, against a bare route. */
export const startPart: Part = {
  name: 'start',
  about: 'from the start of the process to the first response, against a bare Fastify',
  async measure(context, scope) {
    const { orders, options, signal, log } = context
    const { settings, services } = await openEmbedded(context.settings, scope)
    await fillEmbedded(services, context)
    const scratch = await openScratch('bench-start')
    scope.defer(scratch.close)
    const cases = context.cases.filter(({ name }) => name === CASE)
    const access = await accessTo(accountsOf(cases), services)
    const page = await preparePage(context, { settings, access })
    const path = page.request.path.replace(/\?.*/, '')
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    const answers = join(scratch.path, 'answers.json')
    await writeFile(answers, JSON.stringify([{ path, status: 200, headers, body: `${page.body}` }]))
    // A separate compile cache excludes earlier runs.
    const own = { OPERATIONS_PORT: '0', NODE_COMPILE_CACHE: join(scratch.path, 'compiled') }
    const serve = { args: ['serve'], settings: { ...settings, ...own } }
    const programs: Record<string, ProgramOptions> = {
      bare: { program: baselineFile('bare.mjs'), args: [answers] },
      source: { program: MAIN, ...serve },
      built: { program: await builtProgram(), ...serve },
    }
    const timeStart = (program: ProgramOptions, lingerMs = 0) => {
      signal.throwIfAborted()
      return timeFirstAnswer(scratch, program, page, lingerMs)
    }
    for (const [name, program] of Object.entries(programs)) {
      const ms = await timeStart(program, CACHED_MS)
      log(`the first start of ${name}: ${Math.round(ms)} ms; the next use its compile cache`)
    }
    const contenders = Object.entries(programs).map(([name, program]) => {
      return { name, measure: async () => ({ startMs: await timeStart(program) }) }
    })
    const rounds = STARTS_PER_ROUND * options.rounds
    const starts = { ...context, options: { ...options, rounds } }
    const [result] = await race([{ name: 'start', contenders }], starts)
    const ratios = ['source', 'built'].map((of) => {
      return { name: `start÷bare ${of}`, of, per: 'bare', figure: 'startMs', isCost: true } as const
    })
    const title = `From the start of the process to the first right response; the embedded store with ${orders.count} orders`
    const results = result ? [{ ...result, name: '' }] : []
    return { sections: [{ title, results, base: 'bare', ratios, notes: [LEGEND] }] }
  },
}

interface Page {
  request: LoadRequest
  body: Buffer
}

/** A page whose orders were compared with the generated ones. */
async function preparePage(
  context: BenchContext,
  plan: Omit<Parameters<typeof openService>[1], 'name'>,
): Promise<Page> {
  await using scope = new AsyncDisposableStack()
  const found = context.cases.find(({ name }) => name === CASE)
  if (!found) throw new Error(`there is no case ${CASE}`)
  const source = await openService(context, { name: 'api', ...plan }, scope)
  const of = { ...found, places: found.places.slice(0, 1) }
  const [request] = await checkedRequests(context, source, of)
  if (!request) throw new Error(`there is no page of ${CASE}`)
  return { request, body: await source.client.fetch(request) }
}

/**
 * Starts a program in a separate process and returns the milliseconds until its first right
 * response on the port in `PORT`. Kills it `lingerMs` later.
 */
async function timeFirstAnswer(
  scratch: Scratch,
  program: ProgramOptions,
  { request: { path, headers }, body }: Page,
  lingerMs: number,
): Promise<number> {
  const port = await findFreePort(() => true)
  const settings = { ...program.settings, PORT: `${port}` }
  const file = join(scratch.path, 'start.env')
  const [command, ...args] = await commandLine(file, { ...program, settings })
  const isRight = async () => {
    // A connection fails until the program listens.
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(() => null)
    return answer?.status === 200 && body.equals(await answer.bytes())
  }
  const startedAt = performance.now()
  const started = await scratch.start('started', command, args)
  try {
    const explain = async () => `no right response. ${await started.describe()}`
    const limits = { timeoutMs: TIMEOUT_MS, intervalMs: RETRY_MS, shouldAbort: started.hasEnded }
    await poll(isRight, explain, limits)
    const ms = performance.now() - startedAt
    await sleep(lingerMs)
    return ms
  } finally {
    await started.kill()
  }
}
