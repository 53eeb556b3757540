import { afterEach, beforeEach, expect } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import type { Reindexing } from '../../../src/indexing/reindexing.ts'
import { createWriter } from '../../../src/indexing/writer/writer.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { type ProcessResult, runCommand } from '../cli/command.ts'
import { changeOf } from '../orders/changes.ts'
import { type Backend, createBackend } from './backend.ts'

/**
 * Services with isolated stores, which are opened before each test of the file and removed after
 * it.
 */
export interface EachTestServices {
  readonly services: Services
  readonly folder: string
  /** The settings of its stores, for a process that shares them. */
  readonly env: Record<string, string>
  /** The prefix of the name of every index. */
  readonly prefix: string
  readonly reindexing: Reindexing
  /** Makes all writes visible to searches. */
  refresh(): Promise<void>
  /**
   * Writes source orders with a writer that is closed afterwards; an inner array is one bulk.
   * Returns the reasons of delays.
   */
  write(...sources: readonly (object | readonly object[])[]): Promise<string[]>
  /** Runs an `index` command as a process. */
  run(...args: readonly string[]): Promise<ProcessResult>
  /**
   * Starts a reindex and stops it: the new index has every order and receives writes, but is not
   * read. `shards`: as many as now by default.
   */
  beginReindex(shards?: number): Promise<void>
}

/** Registers the hooks of {@link EachTestServices}; `settings` are added to those of the stores. */
export function useServices(settings: Record<string, string> = {}): EachTestServices {
  let backend: Backend
  let services: Services
  beforeEach(async () => {
    backend = createBackend()
    services = await openServices(parseConfig({ ...backend.env, ...settings }))
  })
  afterEach(async () => {
    await services.close()
    await backend.remove()
  })

  const reindexing = () => {
    if (services.reindexing === null) throw new Error('expected stores that can be reindexed')
    return services.reindexing
  }
  return {
    get services() {
      return services
    },
    get folder() {
      return backend.folder
    },
    get env() {
      return backend.env
    },
    get prefix() {
      return `${backend.env['INDEX_PREFIX']}`
    },
    get reindexing() {
      return reindexing()
    },
    refresh: () => backend.refresh(),
    async write(...sources) {
      const delays: string[] = []
      const index = await services.openIndex({ onDelay: (reason) => delays.push(reason) })
      const writer = createWriter(index, Date.now)
      for (const source of sources) await writer.write([source].flat().map(changeOf), 'live')
      await index.close()
      return delays
    },
    run: (...args) => runCommand(['index', ...args], backend.env),
    async beginReindex(shards) {
      const stop = new AbortController()
      const build = reindexing().build({
        onProgress: () => stop.abort(),
        signal: stop.signal,
        ...(shards !== undefined && { shards }),
      })
      await expect(build).rejects.toThrow()
    },
  }
}
