import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices } from '../../../src/services.ts'
import { runProcess } from '../../support/cli/command.ts'
import {
  callWith,
  canTrace,
  readCalls,
  type SystemCall,
  traced,
  writesBefore,
} from '../../support/cli/system-calls.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'
import { FULL, synchronousOf } from '../../support/stores/synchronous.ts'

let folder: string
let dataDir: string
let remove: () => void
beforeEach(() => {
  ;({ folder, remove } = temporaryFolder())
  dataDir = join(folder, 'new', 'data')
})
afterEach(() => remove())

const isTracing = canTrace()

/** Runs a command; its system calls, where they can be traced. */
async function run(...args: string[]): Promise<{ stdout: string; calls: SystemCall[] }> {
  const file = join(folder, 'calls')
  // By `env`, since a command is started in its DATA_DIR, which is not there yet.
  const under = [...(isTracing ? traced(file) : []), 'env', `DATA_DIR=${dataDir}`]
  const { code, stdout, stderr } = await runProcess(args, { DATA_DIR: folder }, '', under)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return { stdout, calls: isTracing ? readCalls(file) : [] }
}

async function createKey(): Promise<{ key: string; keyId: string; calls: SystemCall[] }> {
  const { stdout, calls } = await run('keys', 'create', '--account', 'acc_1', '--json')
  const { key, key_id: keyId } = JSON.parse(stdout)
  return { key, keyId, calls }
}

/** Where nothing can be traced: what the connections that a command opens are set to. */
async function expectFull(): Promise<void> {
  const env = parseConfig({ DATA_DIR: dataDir })
  const closing: (() => Promise<void>)[] = []
  const synchronous = await synchronousOf(async () => {
    const services = await openServices(env)
    const index = await services.openIndex()
    closing.push(index.close, services.close)
  })
  for (const close of closing) await close()
  expect(synchronous).toMatchObject({ 'keys.db': [FULL], 'orders.db': [FULL, FULL] })
}

describe('what the embedded store confirms is on the disk', () => {
  it('with every connection of a command, whatever can be traced', expectFull)

  it('before a key is shown', async () => {
    const { key, calls } = await createKey()
    if (!isTracing) return await expectFull()
    const shown = callWith(calls, key)
    expect(writesBefore(calls, shown, 'keys.db-wal')).toEqual({
      durable: expect.any(Number),
      lost: 0,
    })
  })

  it('before "is revoked" is printed', async () => {
    const { keyId } = await createKey()
    const { calls } = await run('keys', 'revoke', keyId)
    if (!isTracing) return await expectFull()
    const said = callWith(calls, 'is revoked')
    const { durable, lost } = writesBefore(calls, said, 'keys.db-wal')
    expect(durable).toBeGreaterThanOrEqual(2)
    expect(lost).toBe(0)
  })

  it('before a new secret is used, with its folder and those that were made for it', async () => {
    const { calls } = await createKey()
    if (!isTracing) return await expectFull()
    const linked = calls.find(({ name }) => name.startsWith('link'))
    const [, draft = ''] = /"([^"]*\.secrets\.json\.[^"]*)"/.exec(linked?.args ?? '') ?? []
    expect(linked && writesBefore(calls, linked, draft)).toEqual({ durable: 1, lost: 0 })

    const synced = (path: string) =>
      calls.find(({ name, args }) => name === 'fsync' && args.includes(`<${path}>`))
    const used = callWith(calls, '.db-')
    for (const path of [dataDir, join(folder, 'new'), folder]) {
      expect(synced(path)?.endedAt).toBeLessThan(used.beganAt)
    }
    expect(synced(dataDir)?.beganAt).toBeGreaterThan(linked?.endedAt ?? Infinity)
  })
})
