import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueKey } from '../../../src/auth/keys.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { openScratch } from '../../../test/harness/processes/scratch.ts'
import type { BenchContext } from '../context.ts'
import { createCpuReader } from '../measuring/cpu.ts'
import { createGenerator } from '../measuring/generator.ts'
import { type HeatResult, race, type Side } from '../measuring/race.ts'
import { type RunningApi, startApi, startPeer } from '../measuring/running-api.ts'
import { openEmbedded } from '../orders/embedded.ts'
import { type Answer, recordAnswer } from './answers.ts'
import { createRefusals, REFUSING, type Refusal, withoutAllowed } from './refusals.ts'

export interface RefusalComparison {
  /** Where keys and counters are. */
  stores: string
  results: HeatResult[]
}

type Settings = Readonly<Record<string, string>>

/** What it takes to refuse, beside a bare route that answers the same; on both kinds of stores. */
export async function compareRefusals(context: BenchContext): Promise<RefusalComparison[]> {
  const settings = { ...context.settings, ...REFUSING }
  const embedded = await openEmbedded(settings)
  try {
    const results = await compareOn(context, embedded.settings, embedded.services)
    const alone = { stores: 'embedded store, counters in the process', results }
    const services = await openServices(parseConfig(settings))
    try {
      await services.initialize()
      const results = await compareOn(context, settings, services)
      return [alone, { stores: 'OpenSearch, counters in Redis', results }]
    } finally {
      await services.close()
    }
  } finally {
    await embedded.close()
  }
}

async function compareOn(
  context: BenchContext,
  settings: Settings,
  services: Services,
): Promise<HeatResult[]> {
  const refusals = createRefusals(await issueRefusedKey(services))
  const api = await startApi(settings)
  try {
    const answers: Answer[] = []
    for (const [at, refusal] of refusals.entries()) {
      answers.push(await recordAnswer(api.origin, refusal, `/${at}`))
    }
    const bare = await startBare(answers)
    try {
      return await raceRefusals(context, { api, bare }, refusals, answers)
    } finally {
      await bare.stop()
    }
  } finally {
    await api.stop()
  }
}

async function issueRefusedKey(services: Services): Promise<string> {
  const scopes = ['orders:read'] as const
  const grant = { accountId: 'acc_refused', scopes, name: null, expiresAt: null }
  return (await issueKey(services, grant, Date.now())).key
}

async function startBare(answers: readonly Answer[]): Promise<RunningApi> {
  const scratch = await openScratch('bench-answers')
  try {
    const file = join(scratch.path, 'answers.json')
    await writeFile(file, JSON.stringify(answers))
    return await startPeer('bare.mjs', { args: [file] })
  } finally {
    await scratch.close()
  }
}

interface Servers {
  api: RunningApi
  bare: RunningApi
}

async function raceRefusals(
  { cluster, options, redis, signal, log }: BenchContext,
  { api, bare }: Servers,
  refusals: readonly Refusal[],
  answers: readonly Answer[],
): Promise<HeatResult[]> {
  const { connections, rounds, seconds } = options
  const asking = createGenerator({ origins: [api.origin] }, connections)
  const askingBare = createGenerator({ origins: [bare.origin] }, connections)
  const heats = refusals.map(({ name, requests }, at) => {
    const { path = '', body = '' } = answers[at] ?? {}
    const expectedBytes = Buffer.byteLength(body)
    const expected = requests.map((request) => ({ ...request, expectedBytes }))
    const sides: Side[] = [
      {
        name: 'bare',
        generator: askingBare,
        server: bare,
        requests: expected.map((one) => ({ ...one, path })),
      },
      { name: 'api', generator: asking, server: api, requests: expected },
    ]
    return { name, sides }
  })
  try {
    const readCpu = createCpuReader({ client: cluster.client, redis, api: async () => 0 })
    const results = await race(heats, { rounds, seconds, readCpu, signal, log })
    return results.map((result, at) => withoutAllowed(result, refusals[at]?.allowed, seconds))
  } finally {
    await Promise.all([asking.close(), askingBare.close()])
  }
}
