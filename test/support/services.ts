import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { KeyGrant } from '../../src/auth/keys.ts'
import { issueKey } from '../../src/auth/keys.ts'
import { parseConfig } from '../../src/config.ts'
import type { WriteMode } from '../../src/indexing/decide.ts'
import { type LoadSummary, load } from '../../src/indexing/load.ts'
import { createWriter } from '../../src/indexing/writer.ts'
import { wallClock } from '../../src/lib/clock.ts'
import { openServices } from '../../src/services.ts'

export const silent = pino({ level: 'silent' })

/** An empty folder; `remove` takes it away with all that is in it. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'orders-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The embedded services on a folder of their own, and what a test does with them. */
export async function openTestServices(env: Record<string, string> = {}) {
  const { folder, remove } = temporaryFolder()
  const config = parseConfig({ DATA_DIR: folder, ...env })
  const services = await openServices(config, 'server')

  return {
    config,
    services,

    /** Writes source orders; a refused one fails the test unless `refused` collects them. */
    async load(
      orders: readonly object[],
      { mode = 'back-fill', refused }: { mode?: WriteMode; refused?: string[] } = {},
    ): Promise<LoadSummary> {
      return load(ndjson(orders), {
        writer: createWriter(services.orderIndex, wallClock),
        mode,
        onRefused(line, { path, reason }) {
          if (!refused) throw new Error(`line ${line}: ${path}: ${reason}`)
          refused.push(`${line} ${path} ${reason}`)
        },
        onProgress() {},
      })
    },

    async issue(grant: Partial<KeyGrant> = {}, now = Date.now()) {
      const whole = {
        accountId: 'acc_1',
        scopes: ['orders:read'] as const,
        name: null,
        expiresAt: null,
      }
      return issueKey(services, { ...whole, ...grant }, now)
    },

    async close() {
      await services.close()
      remove()
    },
  }
}

export async function* ndjson(values: Iterable<object>): AsyncGenerator<Buffer> {
  for (const value of values) yield Buffer.from(`${JSON.stringify(value)}\n`)
}
