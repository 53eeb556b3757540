import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { issueKey } from '../../../src/auth/keys.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices } from '../../../src/services.ts'
import { openScratch } from '../../../test/harness/processes/scratch.ts'
import { runLoad } from '../load/load-command.ts'
import { type RunningApi, startApi } from '../measuring/running-api.ts'
import { type RunningService, startService } from '../measuring/running-service.ts'
import { type BenchChanges, FOLLOWED_ACCOUNTS } from './changes.ts'

/** All that a change goes through, each in a process of its own, with orders in the index. */
export interface LagPlatform {
  watch: RunningService
  api: RunningApi
  /** Of each account that is followed. */
  keys: ReadonlyMap<string, string>
  stop(): Promise<void>
}

/** Loads the history, then starts a watch and the API. */
export async function startPlatform(
  settings: Readonly<Record<string, string>>,
  changes: BenchChanges,
): Promise<LagPlatform> {
  await loadHistory(settings, changes)
  const keys = await issueKeys(settings)
  const watch = await startService({
    args: ['index', 'watch'],
    settings,
    awaited: [/this is the writer now/],
  })
  try {
    const api = await startApi(settings)
    return {
      watch,
      api,
      keys,
      async stop() {
        await api.stop()
        await watch.stop()
      },
    }
  } catch (error) {
    await watch.stop()
    throw error
  }
}

async function loadHistory(settings: Readonly<Record<string, string>>, changes: BenchChanges) {
  const scratch = await openScratch('bench-lag')
  try {
    const file = join(scratch.path, 'orders.ndjson')
    const lines = changes.history().map(({ json }) => `${json}\n`)
    await pipeline(Readable.from(lines), createWriteStream(file))
    const { read, written } = (await runLoad(scratch, file, settings)).summary
    if (read !== written) throw new Error(`the load wrote ${written} of ${read} orders`)
  } finally {
    await scratch.close()
  }
}

async function issueKeys(settings: Readonly<Record<string, string>>) {
  const services = await openServices(parseConfig(settings))
  try {
    const keys = new Map<string, string>()
    for (const accountId of FOLLOWED_ACCOUNTS) {
      const grant = { accountId, scopes: ['orders:read'] as const, name: null, expiresAt: null }
      keys.set(accountId, (await issueKey(services, grant, Date.now())).key)
    }
    return keys
  } finally {
    await services.close()
  }
}
