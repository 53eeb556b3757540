import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
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
import { FULL, synchronousOf } from '../../support/stores/synchronous.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

let folder: string
let dataDir: string
beforeEach(() => {
  folder = createTestFolder()
  dataDir = join(folder, 'new', 'data')
})

const isTracing = canTrace()

/** Runs a command and returns its system calls, where tracing is possible. */
async function run(...args: string[]): Promise<{ stdout: string; calls: SystemCall[] }> {
  const file = join(folder, 'calls')
  // `env` sets DATA_DIR, because the folder does not exist when the command starts.
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

/** Where tracing is impossible, the settings of the connections that a command opens. */
async function expectFull(): Promise<void> {
  const env = parseConfig({ DATA_DIR: dataDir })
  const closing: (() => Promise<void>)[] = []
  const synchronous = await synchronousOf(async () => {
    const services = await openServices(env)
    const index = await services.openIndex()
    closing.push(index.close, services.close)
  })
  for (const close of closing) await close()
  expect(synchronous).toMatchObject({
    'keys.db': [FULL],
    'orders.db': [FULL, FULL, FULL],
    'webhooks.db': [FULL, FULL],
  })
}

describe('the embedded store syncs to disk', () => {
  it('every connection of a command syncs to disk, also where tracing is impossible', expectFull)

  it('the embedded store syncs to disk before keys create prints a key', async () => {
    const { key, calls } = await createKey()
    if (!isTracing) return await expectFull()
    const printed = callWith(calls, key)
    expect(writesBefore(calls, printed, 'keys.db-wal')).toEqual({
      durable: expect.any(Number),
      lost: 0,
    })
  })

  it('the embedded store syncs to disk before keys revoke prints "is revoked"', async () => {
    const { keyId } = await createKey()
    const { calls } = await run('keys', 'revoke', keyId)
    if (!isTracing) return await expectFull()
    const said = callWith(calls, 'is revoked')
    const { durable, lost } = writesBefore(calls, said, 'keys.db-wal')
    expect(durable).toBeGreaterThanOrEqual(2)
    expect(lost).toBe(0)
  })

  it('the embedded store syncs to disk before a new secret is used, together with each folder created for it', async () => {
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
