import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openScratch, type Scratch } from '../../../test/harness/processes/scratch.ts'
import type { BenchContext } from '../context.ts'
import { createGenerator } from '../measuring/generator.ts'
import { peerFile, startApi } from '../measuring/running-api.ts'
import type { ProgramOptions } from '../measuring/running-service.ts'
import { checkAnswers, pageIds } from '../orders/check.ts'
import { type EmbeddedStore, fillEmbedded, openEmbedded } from '../orders/embedded.ts'
import { issueKeys, pageRequests } from '../orders/pages.ts'
import { type Question, timeFirstAnswer } from './first-answer.ts'
import { buildPrograms } from './programs.ts'

export interface StartComparison {
  orders: number
  /**
   * Program → milliseconds from the start of its process to its first right answer, one a start: `bare`,
   * `source`, and `built` where the service could be compiled.
   */
  samples: Record<string, number[]>
}

const CASE = 'small created 20'
/** A start is short, and no two are alike. */
const STARTS_PER_ROUND = 5
/** By then a service that has started keeps what it has compiled. */
const KEEPING_MS = 3_000

/** How soon the service answers on an embedded store that has orders, beside a bare route. */
export async function compareStart(context: BenchContext): Promise<StartComparison> {
  const { orders, settings, signal, log } = context
  const { source, built } = await buildPrograms(log)
  const store = await openEmbedded(settings)
  const scratch = await openScratch('bench-start')
  try {
    log(`loading ${orders.count} orders into the embedded store …`)
    await fillEmbedded(store, orders, signal)
    const page = await preparePage(context, store)
    const compiled = join(scratch.path, 'compiled') // Its own, so that nothing of earlier runs is in it.
    const serve = {
      args: ['serve'],
      settings: { ...store.settings, OPERATIONS_PORT: '0', NODE_COMPILE_CACHE: compiled },
    }
    const programs = {
      bare: {
        program: peerFile('bare.mjs'),
        args: [await writeAnswer(scratch, page)],
        settings: {},
      },
      source: { program: source, ...serve },
      ...(built && { built: { program: built, ...serve } }),
    }
    return { orders: orders.count, samples: await alternate(context, scratch, programs, page) }
  } finally {
    await scratch.close()
    await store.close()
  }
}

interface Page {
  path: string
  headers: Record<string, string>
  body: Buffer
}

/** A page that was held against the orders it should have, and how it is asked for. */
async function preparePage(
  { cases, signal }: BenchContext,
  { services, settings }: EmbeddedStore,
): Promise<Page> {
  const found = cases.find(({ name }) => name === CASE)
  if (!found) throw new Error(`there is no case ${CASE}`)
  const of = { ...found, places: found.places.slice(0, 1) }
  const keys = await issueKeys([of], services)
  const api = await startApi(settings)
  const generator = createGenerator({ origins: [api.origin] }, 1)
  try {
    const requests = await pageRequests(of, { generator, keys, signal })
    const check = { generator, requests, of, size: of.limit, readIds: pageIds, signal }
    const [request] = await checkAnswers(check)
    if (!request) throw new Error(`there is no page of ${CASE}`)
    return { ...request, body: await generator.ask(request) }
  } finally {
    await generator.close()
    await api.stop()
  }
}

/** The answer for the bare route, as a file. */
async function writeAnswer({ path: folder }: Scratch, { path, body }: Page): Promise<string> {
  const file = join(folder, 'answers.json')
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  const answer = { path: path.replace(/\?.*/, ''), status: 200, headers, body: body.toString() }
  await writeFile(file, JSON.stringify([answer]))
  return file
}

async function alternate(
  { options, signal, log }: BenchContext,
  scratch: Scratch,
  programs: Readonly<Record<string, ProgramOptions>>,
  { path, headers, body }: Page,
): Promise<Record<string, number[]>> {
  const isRight: Question['isRight'] = (status, bytes) => status === 200 && bytes.equals(body)
  const question = { path, headers, isRight }
  const samples: Record<string, number[]> = {}
  for (const [name, program] of Object.entries(programs)) {
    const ms = await timeFirstAnswer(scratch, program, question, signal, KEEPING_MS)
    log(`the first start of ${name}: ${Math.round(ms)} ms; what it compiled is kept for the next`)
  }
  for (let at = 0; at < STARTS_PER_ROUND * options.rounds; at += 1) {
    const order = Object.entries(programs)
    const told: string[] = []
    for (const [name, program] of at % 2 === 0 ? order : order.toReversed()) {
      const ms = await timeFirstAnswer(scratch, program, question, signal)
      samples[name] = [...(samples[name] ?? []), ms]
      told.push(`${name} ${Math.round(ms)} ms`)
    }
    log(`start ${at + 1}: ${told.join(', ')}`)
  }
  return samples
}
