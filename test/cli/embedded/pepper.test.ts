import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type RunningService,
  runCommand,
  serveInProcess,
  startService,
} from '../../support/cli/command.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

const OTHER = { KEY_PEPPER: Buffer.alloc(32, 'other').toString('base64') }
const CREATE = ['keys', 'create', '--account', 'acc_1']

let folder: string
let service: RunningService | undefined
beforeEach(() => {
  folder = createTestFolder()
})
afterEach(async () => {
  await service?.stop()
  service = undefined
})

const env = (settings = {}) => ({ DATA_DIR: folder, PORT: '0', OPERATIONS_PORT: '0', ...settings })
const run = (args: string[], pepper = {}) => runCommand(args, env(pepper))
const secretsFile = () => join(folder, 'secrets.json')

async function serve(pepper = {}): Promise<RunningService> {
  service = await serveInProcess([], env(pepper))
  return service
}

async function serveWorkers(pepper = {}): Promise<RunningService> {
  service = await startService(
    [],
    env({ WORKERS: '2', REDIS_URL: 'redis://127.0.0.1:1', ...pepper }),
  )
  return service
}

async function statusOf(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key.trim()}` }
  return (await fetch(`${service?.baseUrl}/v1/orders`, { headers })).status
}

function recordedChecks(): unknown[] {
  using db = new DatabaseSync(join(folder, 'keys.db'))
  return db.prepare('SELECT check_value FROM pepper').all()
}

/** As an earlier version stored its keys. */
function forgetCheck(): void {
  using db = new DatabaseSync(join(folder, 'keys.db'))
  db.exec('DELETE FROM pepper')
}

const WARNING = 'the stored keys belong to another pepper'
const RECORDED = 'another pepper is recorded beside the keys'
const withWarning = {
  code: 0,
  stdout: expect.stringMatching(/^key_live_/),
  stderr: expect.stringMatching(new RegExp(`${RECORDED}.*KEY_PEPPER.*DATA_DIR`)),
}
const withoutWarning = { code: 0, stderr: expect.not.stringContaining(RECORDED) }
const log = () => service?.output().stderr

describe('another pepper than that of the keys', () => {
  it('warns when a key is created or rolled that the service will reject', async () => {
    const created = await run(CREATE)
    expect(created).toMatchObject(withoutWarning)
    expect(await run(CREATE, OTHER)).toMatchObject(withWarning)
    const { stdout } = await run(['keys', 'list', '--account', 'acc_1', '--json'], OTHER)
    const [{ key_id: id }] = JSON.parse(stdout)
    expect(await run(['keys', 'roll', id], OTHER)).toMatchObject(withWarning)
  })

  it('warns at the first key, too, once a service has started', async () => {
    await serve()
    expect(await run(CREATE, OTHER)).toMatchObject(withWarning)
    expect(await statusOf((await run(CREATE)).stdout)).toBe(200)
  })

  it('is logged at the start of a service whose secrets.json is lost', async () => {
    const { stdout: key } = await run(CREATE)
    rmSync(secretsFile())
    await serve()
    expect(await statusOf(key)).toBe(401)
    await expect.poll(log).toMatch(new RegExp(`${WARNING}.*secrets\\.json`))
  })

  it('is logged by the primary of several workers', async () => {
    await run(CREATE)
    await serveWorkers(OTHER)
    await expect.poll(log).toContain(WARNING)
  })

  it('is that of a store without keys as soon as a service starts with it', async () => {
    await serve()
    await service?.stop()
    await serve(OTHER)
    expect(log()).not.toContain(WARNING)
    const { stdout: key } = await run(CREATE, OTHER)
    expect(await statusOf(key)).toBe(200)
  })

  it('is that of the first key, although a service had started with another one', async () => {
    await serve()
    await service?.stop()
    const { stdout: key } = await run(CREATE, OTHER)
    await serve(OTHER)
    expect(await statusOf(key)).toBe(200)
    expect(log()).not.toContain(WARNING)
  })

  it('is the right one once a key of it is used, after a deliberate change', async () => {
    await run(CREATE)
    const { stdout: key } = await run(CREATE, OTHER)
    await serve(OTHER)
    expect(await statusOf(key)).toBe(200)
    await expect.poll(() => run(CREATE, OTHER)).toMatchObject(withoutWarning)
  })
})

describe('the keys of an earlier version, which recorded no check of the pepper', () => {
  it('get none at a start or with a new key, as the pepper may be wrong', async () => {
    await run(CREATE)
    forgetCheck()
    await serve(OTHER)
    expect(await run(CREATE, OTHER)).toMatchObject(withoutWarning)
    expect(recordedChecks()).toEqual([])
  })

  it('get one at the next use of a key', async () => {
    const { stdout: key } = await run(CREATE)
    forgetCheck()
    await serve()
    expect(await statusOf(key)).toBe(200)
    await expect.poll(recordedChecks).toHaveLength(1)
    expect(await run(CREATE, OTHER)).toMatchObject(withWarning)
  })
})
