import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { openSqliteWebhookStores } from '../../../../../src/stores/sqlite/webhooks/webhook-stores.ts'
import { createTestFolder } from '../../../../support/stores/test-folder.ts'

const MODULE = new URL(
  '../../../../../src/stores/sqlite/webhooks/webhook-stores.ts',
  import.meta.url,
)

const SEVERAL_POLLS_MS = 450

let dataDir: string
let lockFile: string
let stores: ReturnType<typeof openSqliteWebhookStores>
let delays: string[]
beforeEach(() => {
  dataDir = createTestFolder()
  lockFile = join(dataDir, 'webhooks.lock')
  stores = openSqliteWebhookStores({ dataDir }, 'server')
  delays = []
})
afterEach(async () => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  await stores.close()
})

const acquire = () =>
  stores.acquireLease({
    onDelay: (reason) => delays.push(reason),
    signal: new AbortController().signal,
  })

describe('the lease of the embedded dispatcher', () => {
  it('passes on when the process of its holder is killed', async () => {
    const program = `
      const { openSqliteWebhookStores } = await import(${JSON.stringify(MODULE.href)})
      const stores = openSqliteWebhookStores({ dataDir: ${JSON.stringify(dataDir)} }, 'server')
      await stores.acquireLease({ onDelay() {}, signal: new AbortController().signal })
      console.log('held')
      setInterval(() => stores, 1_000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    const holder = expect.stringContaining(`${child.pid}`)
    expect(await stores.dispatcher(0)).toEqual({ holder, alive: true })
    const waiting = acquire()
    await expect.poll(() => delays).toEqual([expect.stringContaining(`${child.pid}`)])
    child.kill('SIGKILL')
    const lease = await waiting
    expect(lease.isHeld()).toBe(true)
    const next = { holder: expect.stringContaining(`${process.pid}`), alive: true }
    expect(await stores.dispatcher(0)).toEqual(next)
    await lease.release()
  })

  it('is unavailable, by the name of its file, where the file cannot be opened', async () => {
    await (await acquire()).release()
    rmSync(lockFile)
    mkdirSync(lockFile)
    for (const call of [acquire, () => stores.dispatcher(0)]) {
      const error: unknown = await call().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Unavailable)
      expect(error).toHaveProperty(
        'message',
        expect.stringContaining(`${lockFile}: unable to open database file. It is a folder`),
      )
    }
  })

  it('is reported once to a process that waits for it, however long', async () => {
    const lease = await acquire()
    const waiting = acquire()
    await setTimeout(SEVERAL_POLLS_MS)
    await lease.release()
    await (await waiting).release()
    expect(delays).toEqual([
      expect.stringMatching(
        /^waiting for another process that delivers webhooks \(.+ \d+\) to end$/,
      ),
    ])
  })

  it('is lost when its file was removed, because another process then makes its own', async () => {
    const lease = await acquire()
    rmSync(lockFile)
    expect(lease.isHeld()).toBe(false)
    const other = await acquire()
    expect([lease.isHeld(), other.isHeld()]).toEqual([false, true])
    await lease.release()
    expect(other.isHeld()).toBe(true)
    await other.release()
  })

  it('is not held by a process that waited for it while another one replaced its file', async () => {
    const first = await acquire()
    const waiting = acquire()
    await expect.poll(() => delays).toHaveLength(1)
    rmSync(lockFile)
    const other = await acquire()
    await first.release()
    const late = await waiting
    expect([late.isHeld(), other.isHeld()]).toEqual([false, true])
    await late.release()
    await other.release()
  })

  it('leaves its file unlocked when the identity of the file cannot be read', async () => {
    const failure = new Error('i/o error')
    vi.spyOn(fs, 'statSync').mockImplementationOnce(() => {
      throw failure
    })
    syncBuiltinESMExports()
    await expect(acquire()).rejects.toBe(failure)
    const lease = await acquire()
    expect([lease.isHeld(), delays]).toEqual([true, []])
    await lease.release()
  })

  // As in a folder without permission, or on a failing disk.
  it('is not held while the identity of its file cannot be read', async () => {
    const lease = await acquire()
    const kept = `${lockFile}.kept`
    renameSync(lockFile, kept)
    symlinkSync(lockFile, lockFile)
    expect(lease.isHeld()).toBe(false)
    rmSync(lockFile)
    renameSync(kept, lockFile)
    expect(lease.isHeld()).toBe(true)
    await lease.release()
  })

  it('reports a lock file of another kind', async () => {
    writeFileSync(lockFile, 'no database'.repeat(100))
    await expect(acquire()).rejects.toThrow(
      `${lockFile}: file is not a database. Stop every process of the service, and remove the file`,
    )
  })
})
